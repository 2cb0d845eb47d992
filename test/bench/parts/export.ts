// Measures exports of 100,000 books and memos: memory of the isolate, time to the first byte, D1 calls and rows.
import { setTimeout } from 'node:timers/promises'
import { median } from '../../support/service/http-client.ts'
import { readMigrations } from '../../support/service/migrations.ts'
import { MIB, watchMemory } from '../../support/service/watch-memory.ts'
import { fillStatements, makeLibraries } from '../endpoints/seed.ts'
import { startWorkers } from '../workers.ts'
import type { Cost } from './rows.ts'

/** The target. An export that needs more ends the process. Without a limit, V8 would keep more garbage. */
export const HEAP_MIB = 32

const KINDS = { JSON: '/export', CSV: '/export.csv', Markdown: '/export/memos.md' }

export type ExportCost = Cost & {
  name: string
  parts: number
  bytes: number
  /** Of the largest part. */
  largest: number
  books: number
  /** The peak of the isolate, in MiB. */
  peakMib: number
  /** Milliseconds to the first byte beyond the distance to the database. */
  firstByteMs: number
}

// As bytes, so that decoding in the client is not measured.
const load = async (url: URL, token: string) => {
  const response = await fetch(url, { headers: { Authorization: `Bearer ${token}` } })
  if (response.status !== 200 || !response.body) {
    throw new Error(`${url.pathname}: ${response.status}: ${await response.text()}`)
  }
  return { body: response.body, next: /<([^<>]+)>; rel="next"/.exec(response.headers.get('Link') ?? '')?.[1] }
}

/** Loads all parts of an export. Returns their sizes. */
const loadAll = async (url: URL, path: string, token: string) => {
  const sizes: number[] = []
  for (let next: string | undefined = path; next; ) {
    const part: Awaited<ReturnType<typeof load>> = await load(new URL(next, url), token)
    let bytes = 0
    for await (const chunk of part.body) bytes += chunk.length
    sizes.push(bytes)
    next = part.next
  }
  return sizes
}

const PAUSE_MS = 200

const timeFirstByte = async (url: URL, token: string) => {
  const start = performance.now()
  const { body } = await load(url, token)
  const reader = body.getReader()
  await reader.read()
  const ms = performance.now() - start
  await reader.cancel()
  // The service finishes the call that it has started.
  await setTimeout(PAUSE_MS)
  return ms
}

/** Of the Worker `distant`. */
const DISTANCE_MS = 50

export const measureExport = async (isQuick: boolean, progress: (line: string) => void): Promise<ExportCost[]> => {
  process.env.MINIFLARE_WORKERD_V8_FLAGS = `--max-heap-size=${HEAP_MIB}`
  const workers = await startWorkers(['exporting', 'distant'], { isInspected: true }).finally(() => {
    delete process.env.MINIFLARE_WORKERD_V8_FLAGS
  })
  const { urlOf, fill, stop } = workers
  const { large } = makeLibraries()
  const { token } = large
  // Resets the limit of exports.
  const forget = () => fill(['delete from attempts'])
  try {
    progress('export: filling the database')
    await fill([...readMigrations(), ...fillStatements()])
    const costs: ExportCost[] = []
    for (const [name, path] of Object.entries(KINDS)) {
      progress(`export: ${name}`)
      let sizes: number[] = []
      const peak = await watchMemory({ ...workers, name: 'exporting' }, async () => {
        sizes = await loadAll(urlOf.exporting, path, token)
      })
      const cost = (await (await fetch(new URL('/cost', urlOf.exporting))).json()) as Cost
      await forget()
      const samples: number[] = []
      const times = isQuick ? 1 : 19
      for (let n = 0; n < times; n++) samples.push(await timeFirstByte(new URL(path, urlOf.distant), token))
      await forget()
      costs.push({
        name,
        ...cost,
        parts: sizes.length,
        bytes: sizes.reduce((sum, size) => sum + size, 0),
        largest: Math.max(...sizes),
        books: large.books,
        peakMib: peak.isolate / MIB,
        firstByteMs: median(samples) - DISTANCE_MS,
      })
    }
    return costs
  } finally {
    await stop()
  }
}
