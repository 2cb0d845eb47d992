import { sql } from 'drizzle-orm'
import { accountSubject, memberAccount } from '../../../auth/keyed-hash'
import { credentialOf } from '../../../auth/token'
import { callerId, callerTokenId, runAsCaller } from '../../../db/caller'
import { afterResponse, type ConfirmedMember, firstRow, sqlStatement } from '../../../db/client'
import { DEVICE_FILES, insertAttemptIf, isAllowed, selectUsage, toAttempt } from '../../../db/limits/attempts'
import { tooManyAttempts } from '../../../db/limits/rate-limit'
import type { FormatName } from '../../entries/entry'
import { dropFile } from '../lease'
import { endOfRun } from '../run'
import { MAX_FILE_NAME } from '../schema'
import { getImport, type StoredImport } from '../store'
import { type ImportContext, putFile, readAndStart, runInTurn } from './start'

/** `file`: while it runs. */
type Known = Pick<StoredImport, 'importId' | 'file'>
const known = sql`
  from imports where memberId = ${callerId} and tokenId = ${callerTokenId} and fileHash = :fileHash
    and isDeleted = 0 and status <> 'FAILED'`
const selectKnown = sqlStatement<Known>`
  select importId, iif(status = 'RUNNING', file, null) as file ${known} order by importId desc limit 1`
const countFile = insertAttemptIf(sql`${isAllowed} and ${callerId} is not null and not exists (select 1 ${known})`)

type Sent = {
  protocol: keyof typeof DEVICE_FILES
  /** As the device names it. Control characters are dropped. */
  fileName: string
  format?: FormatName
  /** Whether to return only when the import has ended, or the time of a run is over. */
  wait?: boolean
}

/**
 * Counts a file that a device sent, unless the same device has sent it before and the report of its import is kept.
 * @throws TOO_MANY_REQUESTS after the files of a day
 */
const admit = async (
  { db, caller, config }: ImportContext,
  { memberId }: ConfirmedMember,
  protocol: Sent['protocol'],
  fileHash: string,
) => {
  const now = Date.now()
  const subject = await accountSubject(config.JWT_SECRET, memberAccount(memberId), protocol, credentialOf(caller))
  const values = { ...toAttempt(now, { subject, limits: DEVICE_FILES[protocol] }), fileHash }
  const { sent, usage, counted } = await runAsCaller(db, caller, {
    sent: firstRow(selectKnown(values)),
    usage: selectUsage(values),
    counted: countFile(values),
  })
  if (!sent && counted.length === 0) throw tooManyAttempts(usage, now)
  return sent
}

const POLL_MS = 250

/** Waits for the end of an import, whose turn comes after others. */
const waitForEnd = async (context: ImportContext, memberId: number, importId: number) => {
  const deadline = endOfRun()
  for (;;) {
    const stored = await getImport(afterResponse(context.db), context.caller, importId)
    if (stored?.status !== 'RUNNING' || Date.now() >= deadline) return
    await scheduler.wait(POLL_MS)
    await runInTurn(context, memberId, deadline)
  }
}

/**
 * Starts an import of a file that a device sent, as `startImport` does with `merge=fill`, or returns that of the same
 * file: sending it again changes nothing. Imports of a member run one after another. A report says what became of the rows.
 * @throws TOO_MANY_REQUESTS; those of `readAndStart`
 */
export const startDeviceImport = async (
  context: ImportContext,
  member: ConfirmedMember,
  bytes: Uint8Array<ArrayBuffer>,
  { protocol, fileName, format, wait = false }: Sent,
): Promise<{ importId: number; isNew: boolean }> => {
  const fileHash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).toBase64()
  const sent = await admit(context, member, protocol, fileHash)
  const { memberId } = member
  if (sent) {
    const { importId, file } = sent
    if (file !== null) {
      // The request that started it may have ended before it stored the file.
      await putFile(context, { memberId, file }, bytes)
      const stored = await getImport(afterResponse(context.db), context.caller, importId)
      // It may have ended meanwhile, and nothing else would delete the file again.
      if (stored?.status !== 'RUNNING') await dropFile(context, { memberId, importId, file })
      else if (wait) await waitForEnd(context, memberId, importId)
    }
    return { importId, isNew: false }
  }
  const maps = { shelfMap: {}, columns: {} }
  const shown = fileName.replaceAll(/\p{Cc}/gu, '').slice(0, MAX_FILE_NAME)
  const created = await readAndStart(context, bytes, {
    read: { format, ...maps },
    wait,
    isDryRun: 0,
    merge: 'fill',
    options: { ...maps, keepVisibility: false },
    device: { fileHash, fileName: shown.toWellFormed() },
  })
  const { importId } = created
  if (wait && created.isQueued) await waitForEnd(context, memberId, importId)
  return { importId, isNew: true }
}
