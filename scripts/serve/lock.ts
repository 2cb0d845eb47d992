import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

const SQLITE_BUSY = 5

/** Kept: a lock that is garbage ends. */
const locks: DatabaseSync[] = []

/**
 * Keeps other processes from serving the same data. The system ends the lock with this process, however that ends.
 * @throws Error if another process has it, or the disk is full
 */
export const lockFolder = (data: string) => {
  const lock = new DatabaseSync(join(data, 'lock.sqlite'))
  try {
    lock.exec('begin exclusive')
  } catch (error) {
    lock.close()
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY)
      throw new Error(`${data} cannot be locked: ${(error as Error).message}`)
    throw new Error(`Another process serves ${data}: stop it first, or choose another folder with --data`)
  }
  locks.push(lock)
}
