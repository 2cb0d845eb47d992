// @module-tag slow
import { env } from 'cloudflare:workers'
import { beforeEach, expect, it } from 'vitest'
import { hashToken } from '../../../src/auth/access-token'
import { requireMember } from '../../../src/db/caller'
import { connect } from '../../../src/db/client'
import { configure } from '../../../src/env'
import { startDeviceImport } from '../../../src/transfer/imports/receive/start-device-import'
import { MAX_STATEMENTS } from '../../../src/transfer/imports/run-context'
import { type Reader, signUp } from '../../support/api'
import { insertImport, memberDatabase, memberSlot, select } from '../../support/database'
import { addRawDevice } from '../../support/devices/raw-device'
import { memberIdOf } from '../../support/images/images'

let reader: Reader
let memberId: number
/** Sends a file and waits, as the API of Readwise does. */
let send: (title: string) => Promise<{ importId: number; isNew: boolean }>
beforeEach(async () => {
  reader = await signUp()
  memberId = await memberIdOf(reader)
  const { token } = await addRawDevice(reader)
  const db = connect(memberDatabase(), { slot: memberSlot() })
  const tokenHash = await hashToken(token)
  const caller = { kind: 'token' as const, slot: memberSlot(), tokenHash, required: ['intake:write' as const] }
  send = async (title) => {
    const context = { db, caller, bucket: env.IMAGES, reader: env.READER, config: configure(env), turns: ['a'] }
    const file = Uint8Array.from(new TextEncoder().encode(`Title,Author\n${title},Mina Oh\n`))
    return startDeviceImport(
      { ...context, budget: { left: MAX_STATEMENTS }, runLater: (work) => void work() },
      await requireMember(db, caller),
      file,
      { protocol: 'readwise', fileName: title, wait: true },
    )
  }
})
const statusOf = async (importId: number) => (await reader.get(`/imports/${importId}`)).body.status

it('returns when the import has ended', async () => {
  const { importId, isNew } = await send('A')
  expect([isNew, await statusOf(importId)]).toEqual([true, 'DONE'])
  expect(await send('A')).toEqual({ importId, isNew: false })
})

it('waits for the import that runs, and for that of the same file', async () => {
  const running = await insertImport(memberId, 'RUNNING', 1)
  const ended: string[] = []
  const sendAndTell = async (title: string) => {
    const { importId } = await send(title)
    ended.push(title)
    return statusOf(importId)
  }
  const sent = ['A', 'B'].map(sendAndTell)
  const started = () => select('select importId from imports where memberId = ?', memberId)
  await expect.poll(started).toHaveLength(3)
  sent.push(sendAndTell('A'))
  await scheduler.wait(300)
  expect(ended).toEqual([])
  await select(`update imports set status = 'DONE' where memberId = ? and importId = ?`, memberId, running)
  expect(await Promise.all(sent)).toEqual(['DONE', 'DONE', 'DONE'])
  expect(await started()).toHaveLength(3)
})
