import type { Caller } from '../../db/caller'
import { log } from '../../runtime/log'
import { putMark } from '../../storage/bucket'

/**
 * Remembers outside the database that a member's password was changed or deleted: after an older database is restored,
 * the former one must not work. Call it after the response. If it fails, nothing repeats it.
 */
export const markPassword = (bucket: R2Bucket, memberId: number) =>
  putMark(bucket, { kind: 'password', memberId, at: Date.now() }).catch((error) =>
    log('error', `password mark: ${error}`),
  )

/** The same for the member of a session. */
export const markOwnPassword = async (bucket: R2Bucket, caller: Caller) => {
  if (caller.kind === 'session') await markPassword(bucket, caller.memberId)
}
