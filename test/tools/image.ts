// The files of the image that the Dockerfile builds, without a builder.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const readLines = (path: string) => readFileSync(path, 'utf8').split('\n')

/** What .dockerignore lets into the build, and what the build adds. */
const CONTEXT = [
  ...readLines('.dockerignore').flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : [])),
  'dist/index.js',
  'dist/reader/index.js',
  'dist/assets',
]

/** The paths that the last stage copies from the others. */
const readCopies = () => {
  const lines = readLines('Dockerfile')
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')))
  const copies = last.flatMap((line) => /^COPY --from=\w+ (.+) \S+$/.exec(line)?.[1]?.split(' ') ?? [])
  return copies.map((path) => path.replace('/app/', ''))
}

const isWithin = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`)

/** Copies the files of the image to a folder, which all users can read. Links its dependencies. */
export const createImage = (folder: string) => {
  for (const copied of readCopies()) {
    if (copied === 'node_modules') symlinkSync(resolve(copied), join(folder, copied))
    for (const path of CONTEXT.filter((each) => isWithin(each, copied) || isWithin(copied, each))) {
      const from = isWithin(path, copied) ? path : copied
      mkdirSync(dirname(join(folder, from)), { recursive: true })
      // As Docker does: the build is not older than its source.
      cpSync(from, join(folder, from), { recursive: true, preserveTimestamps: true })
    }
  }
  // The last build may have been private.
  execFileSync('chmod', ['-R', 'a+rX', folder])
}
