import type { Change, Changes } from '../../../src/transfer/changes/responses'
import { ofCopy, ofExport, type Value } from './comparable'

type Get = (path: string) => Promise<{ status: number; body: unknown }>

const get = async (from: Get, path: string) => {
  const { status, body } = await from(path)
  if (status !== 200) throw new Error(`GET ${path}: ${status}: ${JSON.stringify(body)}`)
  return body as never
}

type Earlier = { objects: Map<string, Value>; cursor: () => string | undefined }

/** A client's copy of a library, kept as the introduction of the document says. It can go on from an earlier one. */
export const createCopy = (from: Get, earlier?: Earlier) => {
  const objects = new Map(earlier?.objects)
  let cursor = earlier?.cursor()
  const apply = ({ kind, id, value }: Change) => {
    if (value) objects.set(`${kind} ${id}`, value as Value)
    else objects.delete(`${kind} ${id}`)
    if (value || kind !== 'book') return
    for (const [key, each] of objects) if (!key.startsWith('book') && each.bookId === id) objects.delete(key)
  }
  const pullPage = async (size = 100) => {
    const page: Changes = await get(from, `/changes?size=${size}${cursor ? `&cursor=${cursor}` : ''}`)
    const ids = new Set(page.item.map(({ kind, id }) => `${kind} ${id}`))
    if (ids.size < page.item.length || ids.size > size) throw new Error(`A page of ${size} has ${[...ids]}`)
    page.item.forEach(apply)
    cursor = page.next
    return page
  }
  return {
    objects,
    pullPage,
    pull: async (size = 100) => {
      for (let pages = 1; pages < 1000; pages++) if (!(await pullPage(size)).hasMore) return pages
      throw new Error('The feed has no end')
    },
    cursor: () => cursor,
    drop: () => {
      objects.clear()
      cursor = undefined
    },
    of: (kind: string) => [...objects].flatMap(([key, value]) => (key.startsWith(`${kind} `) ? [value] : [])),
  }
}
export type Copy = ReturnType<typeof createCopy>

/** The copy, and what the export has, which reads the library in another way. */
export const compareCopy = async (from: Get, { of }: Copy) => ({
  copy: ofCopy(of),
  library: ofExport(await get(from, '/export'), await get(from, '/tags')),
})
