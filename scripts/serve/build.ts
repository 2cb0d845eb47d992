import { existsSync, globSync, statSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const BUNDLES = ['dist/index.js', 'dist/reader/index.js']
/** Files only: copying into an image changes the times of folders. */
const SOURCES = ['src/**/*.*', 'wrangler*.toml', 'package-lock.json']

const changedAt = (path: string) => statSync(join(ROOT, path)).mtimeMs

/** Whether the Workers were not built since the last change of their source. */
export const isBuildOld = () => {
  if (!BUNDLES.every((path) => existsSync(join(ROOT, path)))) return true
  const built = Math.min(...BUNDLES.map(changedAt))
  return globSync(SOURCES, { cwd: ROOT }).some((path) => changedAt(path) > built)
}
