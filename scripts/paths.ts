// Says why a path cannot be used, before the work that needs it.
import { closeSync, existsSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { printError } from './print.ts'

const REASONS: Record<string, string> = {
  EACCES: 'permission denied',
  EEXIST: 'there is a file of this name',
  EISDIR: 'it is a folder, not a file',
  ENOENT: 'there is no such file or folder',
  ENOSPC: 'no space is left',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
}

/**
 * The message of an error, or a sentence about the path that an error of the file system names.
 * @param shown the path to name instead
 */
export const describeError = (error: unknown, shown?: string) => {
  const { code = '', path, message } = error as NodeJS.ErrnoException
  return path !== undefined && REASONS[code] ? `${shown ?? path}: ${REASONS[code]}` : message
}

const withSentence = (path: string, work: () => void) => {
  try {
    work()
  } catch (error) {
    throw new Error(describeError(error, path), { cause: error })
  }
}

/** Opens a file for writing. One that exists keeps its content. */
const probe = (path: string) => {
  const isNew = !existsSync(path)
  closeSync(openSync(path, 'a', 0o600))
  if (isNew) rmSync(path)
}

/** @throws Error that says why a file cannot be written */
export const requireWritable = (path: string) => withSentence(path, () => probe(path))

/** Creates a folder unless it exists. @throws Error that says why nothing can be written to it */
export const requireFolder = (path: string) =>
  withSentence(path, () => {
    mkdirSync(path, { recursive: true })
    probe(join(path, `.writable-${process.pid}`))
  })

/** @throws Error that says why a file cannot be read */
export const requireFile = (path: string) =>
  withSentence(path, () => {
    if (!statSync(path).isFile()) throw new Error(`${path}: it is a folder, not a file`)
  })

/** Runs checks of paths. Ends the process with the reason if one fails. */
export const exitUnless = (check: () => void) => {
  try {
    check()
  } catch (error) {
    printError(describeError(error))
    process.exit(1)
  }
}
