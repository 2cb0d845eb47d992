import { createWriteStream, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join, parse } from 'node:path'
import { pipeline } from 'node:stream/promises'

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/**
 * Writes the files of an export: `library.json`, or `library-part-1.json` and so on if it has several parts. They get
 * these names when all parts are complete.
 * @param isForced whether to replace the files of an earlier export, which are an error otherwise
 */
export const createPartFiles = (file: string, isForced: boolean) => {
  const { dir, base, name, ext } = parse(file)
  const isOfExport = new RegExp(`^${escaped(name)}(?:-part-[1-9]\\d*)?${escaped(ext)}$`)
  const temporary = (part: number) => join(dir, `.${base}-${process.pid}-${part}.incomplete`)
  const written = new Set<number>()

  /** The files of an earlier export. @throws Error if there are any and `isForced` is false */
  const findEarlier = () => {
    if (!statSync(dir || '.', { throwIfNoEntry: false })?.isDirectory())
      throw new Error(`There is no directory ${dir}.`)
    const earlier = readdirSync(dir || '.').filter((each) => isOfExport.test(each))
    const [first] = earlier
    if (first !== undefined && !isForced) {
      throw new Error(`${join(dir, first)} exists: pass --force to replace the export, or another name with --out.`)
    }
    return earlier
  }

  return {
    findEarlier,
    write: async (part: number, content: AsyncIterable<Uint8Array>) => {
      written.add(part)
      // Readable only by its owner: it has personal data.
      await pipeline(content, createWriteStream(temporary(part), { mode: 0o600 }))
    },
    /** Gives the files their names and deletes those of an earlier export. Returns the paths. */
    publish: () => {
      const earlier = findEarlier()
      const files = [...written].map((part) => {
        const final = written.size > 1 ? `${name}-part-${part}${ext}` : base
        renameSync(temporary(part), join(dir, final))
        return final
      })
      for (const each of earlier) if (!files.includes(each)) rmSync(join(dir, each))
      written.clear()
      return files.map((each) => join(dir, each))
    },
    /** Deletes the incomplete files. */
    discard: () => {
      for (const part of written) rmSync(temporary(part), { force: true })
    },
  }
}
