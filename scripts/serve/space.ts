import { statfsSync } from 'node:fs'
import { printError } from '../print.ts'

const LOW_BYTES = 200_000_000

/** Warns of a disk that is nearly full. */
export const warnOfFullDisk = (data: string) => {
  const { bavail, bsize } = statfsSync(data)
  const bytes = bavail * bsize
  if (bytes > LOW_BYTES) return
  const megabytes = Math.floor(bytes / 1_000_000)
  printError(`The disk of ${data} has ${megabytes} MB left: when it is full, the service answers writes with 503`)
}
