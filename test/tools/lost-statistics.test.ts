// @module-tag slow
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openStores } from '../../scripts/data/stores.ts'
import { verify } from '../../scripts/data/verify.ts'
import { createDatabase } from './databases.ts'

it('verify deletes objects of statistics without a row, and forgets what was counted if one is lost', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'reading-library-'))
  const database = createDatabase(folder, 'DB')
  for (const memberId of [1, 2]) {
    database.exec(`
      insert into members (memberId, email, name, passwordHash, createdAt, updatedAt)
        values (${memberId}, '${memberId}@library.test', 'Mina', '-', '2026-01-01T00:00:00', '2026-01-01T00:00:00');
      insert into sittings values (${memberId}, 'token', 1, 'd', '2026-03-01', 90);
      insert into documents (memberId, document, createdAt, seconds) values (${memberId}, 'd', 1, 90);
      insert into statisticsFiles values (${memberId}, 'file', 'hash', 3, 'missing', 2, 1, 1)`)
  }
  database.close()
  const { dispose, ...stores } = await openStores({ persistTo: folder })
  const put = (key: string) => stores.bucket.put(`statistics/${key}`, 'x')
  for (const key of ['1/file', '1/missing', '2/file', '1/left']) await put(key)
  const run = async (repair: boolean) => {
    const lines: string[] = []
    const print = (line: string) => lines.push(line)
    await verify(stores, { repair, restored: [], settleMs: 0, print, progress: () => {} })
    return lines.slice(0, -1)
  }
  expect(await run(false)).toEqual([
    'statistics/1/left: object without a row',
    'statistics/2/missing: row without an object',
  ])
  expect(await run(true)).toEqual([
    'lost objects of reading statistics, which count again: 1',
    'objects without a row deleted: 1',
  ])
  expect(await run(false)).toEqual([])
  const [{ database: repaired }] = stores.slots as [(typeof stores.slots)[number]]
  const { results } = await repaired.prepare('select memberId, seconds from documents').all()
  expect(results).toEqual([{ memberId: 1, seconds: 90 }])
  await dispose()
  rmSync(folder, { recursive: true })
})
