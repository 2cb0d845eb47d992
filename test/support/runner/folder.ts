import { beforeAll, describe } from 'vitest'
import { memberSlot } from '../database'
import { emptyDatabases } from './empty-databases'

/**
 * Runs the test files of a folder in one Worker, whose start takes seconds. Workers that vitest shares among files
 * (`isolate: false`) hang now and then ("onEmpty() can only be called once at a time").
 * @param sources their texts, for their tags
 */
export const runFolder = (files: Record<string, () => Promise<unknown>>, sources: Record<string, string>) => {
  for (const [path, load] of Object.entries(files)) {
    const tags = [...(sources[path] ?? '').matchAll(/^\/\/ @module-tag ([\w-]+)$/gm)].map(([, tag = '']) => tag)
    if (tags.includes('one-slot') && memberSlot() > 0) continue
    describe(path, { tags }, async () => {
      beforeAll(emptyDatabases)
      await load()
    })
  }
}
