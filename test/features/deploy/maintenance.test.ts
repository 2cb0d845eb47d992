import { env } from 'cloudflare:workers'
import { beforeAll, expect, it } from 'vitest'
import { sweep } from '../../../src/sweep'
import { type Reader, send, signUp } from '../../support/api'
import { select } from '../../support/database'
import { addressOf, bodyOf, operations } from '../../support/document/operations'
import { wrapDatabase } from '../../support/wrap-database'

const changed = { MAINTENANCE: 'on' }

let reader: Reader
beforeAll(async () => {
  reader = await signUp()
  await reader.createBook({ title: 'Demian' })
})

it.each(operations.filter(({ method }) => method !== 'GET'))(
  '$method $template is refused without a database call',
  async (operation) => {
    let calls = 0
    const DB = wrapDatabase(env.DB, (call) => {
      calls += 1
      return call()
    })
    const answer = await reader.send(operation.method, addressOf(operation), {
      body: bodyOf(operation),
      changed: { ...changed, DB },
    })
    expect(answer).toMatchObject({
      status: 503,
      body: { message: 'Under maintenance: nothing can be changed, try again later' },
    })
    expect([answer.headers.get('X-Error-Code'), answer.headers.get('Retry-After'), calls]).toEqual([
      'UNAVAILABLE',
      '60',
      0,
    ])
  },
)

it('reads go on, and /health says that changes are refused', async () => {
  const library = await reader.send('GET', '/books/library?page=1&size=10&bookStatus=YET', { changed })
  expect(library).toMatchObject({ status: 200, body: { item: [{ title: 'Demian' }] } })
  expect((await reader.send('GET', '/export', { changed })).status).toBe(200)
  expect((await send('GET', '/health', { changed })).body.warnings).toContain('Under maintenance: changes get 503')
  expect((await send('GET', '/health')).body.warnings ?? []).not.toContain('Under maintenance: changes get 503')
})

it('the sweep pauses', async () => {
  await select(`insert into purgeJobs values (987655, 0)`)
  const jobs = () => select('select 1 from purgeJobs')
  await sweep({ ...env, ...changed } as never)
  expect(await jobs()).toHaveLength(1)
  await sweep({ ...env } as never)
  expect(await jobs()).toEqual([])
})
