// @module-tag slow
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { restoreBackup } from '../../scripts/backup/restore.ts'
import { writeBackup } from '../../scripts/backup/write.ts'
import { localPath, openStores } from '../../scripts/data/stores.ts'
import { readCommand, runCommand } from '../../scripts/members/run.ts'
import { addMember, createDatabase, createFolder, runHere } from './databases.ts'

const NAME = `${'a'.repeat(22)}.png`
const REASON = 'https://other.example/a//../b/'
const MISSING = '/missing/..//folder/library.json'

const backUp = (persistTo: string, folder: string) => runHere({}, () => writeBackup(folder, { persistTo }))
const restore = async (folder: string, persistTo: string) => {
  const { result, stdout } = await runHere({}, () => restoreBackup(folder, { persistTo }, {}))
  const database = new DatabaseSync(localPath(persistTo, 'DB'))
  const read = (query: string) => database.prepare(query).all()
  return { result, stdout, read }
}
const BLOCKED = 'select memberId from members where blockedAt is not null'
const WITHDRAWN = 'select memberId from members where withdrawnAt is not null'
const ACTIONS = 'select action from operatorLog order by entryId'
const UNKNOWN = /^Nothing is known of blocks, take-downs, withdrawals and new passwords after 2.+Z: /m

it('restores marks with the bucket, and says what is unknown without it', async () => {
  const folder = createFolder()
  const [data = '', before = '', after = '', ...targets] = ['data', 'before', 'after', 'a', 'b', 'c'].map((name) =>
    join(folder, name),
  )
  const database = createDatabase(data)
  for (const memo of [`https://library.example/images/1/${NAME}`, 'A memo']) addMember(database, [[memo]])
  await backUp(data, before)

  const { dispose, ...stores } = await openStores({ persistTo: data })
  const operate = async (...args: string[]) =>
    (await runCommand(readCommand([...args, '--local', '--persist-to', data]), stores)).join('\n')
  await operate('block', '1')
  await operate('take-down', `/images/1/${NAME}`, '--reason', REASON)
  const settings = { ...stores.settings, PUBLIC_URL: 'https://library.example' }
  const failing = readCommand(['export', '1', '--out', MISSING, '--local', '--persist-to', data])
  await expect(runCommand(failing, { ...stores, settings })).rejects.toThrow()
  await operate('delete', '2')
  await dispose()
  const actions = database.prepare(ACTIONS).all()
  expect(actions).toMatchObject([
    { action: 'block' },
    { action: `take-down image ${NAME} ${REASON}` },
    { action: 'export' },
    { action: expect.stringMatching(/^failed: export: .*\/missing\/\.\.\/\/folder/) },
    { action: 'delete' },
  ])

  const [alone = '', beside = '', latest = ''] = targets
  const lost = await restore(before, alone)
  expect([lost.result, lost.stdout, lost.read(BLOCKED)]).toEqual([true, expect.stringMatching(UNKNOWN), []])

  cpSync(join(data, 'v3', 'r2'), join(beside, 'v3', 'r2'), { recursive: true })
  const kept = await restore(before, beside)
  expect([kept.result, UNKNOWN.test(kept.stdout)]).toEqual([true, false])
  expect([kept.read(BLOCKED), kept.read(WITHDRAWN)]).toEqual([[{ memberId: 1 }], [{ memberId: 2 }]])
  expect(kept.read('select memoContent from memos where memberId = 1')).toEqual([{ memoContent: '[image removed]' }])
  expect(kept.read(ACTIONS)).toEqual(actions)

  await backUp(data, after)
  const whole = await restore(after, latest)
  expect([whole.result, whole.read(ACTIONS)]).toEqual([true, actions])
})
