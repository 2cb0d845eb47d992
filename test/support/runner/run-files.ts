import { beforeAll, describe } from 'vitest'
import { memberSlot } from '../database'
import { emptyDatabases } from './empty-databases'

/**
 * Runs test files in one Worker, whose start takes seconds of CPU. Workers that vitest shares among files
 * (`isolate: false`) hang now and then ("onEmpty() can only be called once at a time").
 * @param sources their texts, for their tags
 */
export const runFiles = (files: Record<string, () => Promise<unknown>>, sources: Record<string, string>) => {
  for (const [path, load] of Object.entries(files)) {
    const tags = [...(sources[path] ?? '').matchAll(/^\/\/ @module-tag ([\w-]+)$/gm)].map(([, tag = '']) => tag)
    if (tags.includes('one-slot') && memberSlot() > 0) continue
    describe(path.replace('../', ''), { tags }, async () => {
      beforeAll(emptyDatabases)
      await load()
    })
  }
}
