import { createExecutionContext, createScheduledController, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import worker from '../../../src/index'
import { signUp } from '../../support/api'
import { select } from '../../support/database'
import { listImageKeys, loadImage, memberIdOf } from '../../support/images/images'
import { png } from '../../support/images/pictures'
import { eventually } from '../../support/runtime/clock'

const PNG = png()
const sweep = async (changed: Partial<typeof env> = {}) => {
  const context = createExecutionContext()
  await worker.scheduled(createScheduledController() as ScheduledController, { ...env, ...changed })
  await waitOnExecutionContext(context)
}
const silenceErrors = () => vi.spyOn(console, 'error').mockImplementation(() => {})
afterEach(vi.restoreAllMocks)
const BROKEN_BUCKET = { list: () => Promise.reject(new Error('bucket is down')) } as unknown as R2Bucket

describe('withdrawal', () => {
  const createLeaver = async (images: number) => {
    const leaver = await signUp()
    const member = await memberIdOf(leaver)
    const url: string = (await leaver.upload(PNG)).body
    for (let n = 1; n < images; n++) await env.IMAGES.put(`images/${member}/${n}`, 'x')
    return { leaver, member, url }
  }

  it('deletes all images after the response', async () => {
    const { leaver, member, url } = await createLeaver(3)
    for (const query of ['', '?x=1']) expect((await loadImage(url + query)).status).toBe(200)
    expect((await leaver.delete('/members/me')).status).toBe(204)
    await eventually(async () => expect(await listImageKeys(member)).toEqual([]))
    for (const query of ['', '?x=1', '?x=2']) {
      await eventually(async () => expect((await loadImage(url + query)).status, query).toBe(404))
    }
  })

  it('deletes more than a thousand images, and none of other members', { tags: ['slow'] }, async () => {
    const { leaver, member } = await createLeaver(1100)
    const neighbour = `images/${member}1/${'A'.repeat(22)}.png`
    await env.IMAGES.put(neighbour, 'x')
    await leaver.delete('/members/me')
    await eventually(async () => expect(await listImageKeys(member)).toEqual([]))
    expect(await env.IMAGES.head(neighbour)).not.toBeNull()
  })

  it('leaves failed deletions and later uploads to the sweep', async () => {
    const { leaver, member } = await createLeaver(2)
    silenceErrors()
    expect((await leaver.send('DELETE', '/members/me', { changed: { IMAGES: BROKEN_BUCKET } })).status).toBe(204)
    expect(await listImageKeys(member)).toHaveLength(2)
    await sweep()
    expect(await listImageKeys(member)).toEqual([])

    await env.IMAGES.put(`images/${member}/late`, 'x')
    await sweep()
    expect(await listImageKeys(member)).toEqual([])
    const job = () => select('select * from purgeJobs where memberId = ?', member)
    expect(await job()).toHaveLength(1)
    await select('update purgeJobs set createdAt = createdAt - 3600001')
    await sweep()
    expect(await job()).toEqual([])
  })

  it('that fails counts as a failure of the sweep', async () => {
    silenceErrors()
    const { leaver } = await createLeaver(1)
    await leaver.send('DELETE', '/members/me', { changed: { IMAGES: BROKEN_BUCKET } })
    await env.CATALOGUE.delete('sweep')
    const IMAGES = {
      list: (options: R2ListOptions) =>
        (options.prefix?.startsWith('images/') ? BROKEN_BUCKET : env.IMAGES).list(options),
      put: (key: string, value: string) => env.IMAGES.put(key, value),
    } as unknown as R2Bucket
    await sweep({ IMAGES })
    expect(await env.CATALOGUE.get('sweep')).toBeNull()
    await sweep()
    expect(await env.CATALOGUE.get('sweep')).not.toBeNull()
  })

  it('is not blocked by another member whose images cannot be deleted', { tags: ['slow'] }, async () => {
    silenceErrors()
    const [stuck, free] = [await createLeaver(1), await createLeaver(1)]
    const changed = { IMAGES: BROKEN_BUCKET }
    for (const { leaver } of [stuck, free]) await leaver.send('DELETE', '/members/me', { changed })
    const IMAGES = {
      list: (options: R2ListOptions) =>
        (options.prefix === `images/${stuck.member}/` ? BROKEN_BUCKET : env.IMAGES).list(options),
      delete: (keys: string[]) => env.IMAGES.delete(keys),
    } as unknown as R2Bucket
    await sweep({ IMAGES })
    expect(await listImageKeys(stuck.member)).toHaveLength(1)
    expect(await listImageKeys(free.member)).toEqual([])
  })

  it('leaves no images after racing an upload and a sweep', async () => {
    for (let round = 0; round < 5; round++) {
      const { leaver, member } = await createLeaver(1)
      const race = await Promise.all([leaver.upload(PNG), leaver.delete('/members/me'), leaver.upload(PNG)])
      expect(race.map(({ status }) => status).every((status) => [201, 204, 401].includes(status))).toBe(true)
      await sweep()
      expect(await listImageKeys(member)).toEqual([])
    }
  })
})

describe('the sweep', () => {
  it('deletes only expired codes and attempts', async () => {
    const now = Date.now()
    const dayAgo = now - 86_400_000
    await select(
      `insert into joinCodes (subject, address, codeHash, issuedAt, expiresAt) values ('old', 'a', 'x', ?, ?)`,
      now - 700_000,
      now - 1,
    )
    await select(
      `insert into joinCodes (subject, address, codeHash, issuedAt, expiresAt) values ('live', 'a', 'x', ?, ?)`,
      now,
      now + 60_000,
    )
    await select(`insert into attempts (subject, at) values ('old', ?), ('live', ?)`, dayAgo - 1000, dayAgo + 60_000)
    await select(`insert into dailyMails (day, mails) values (1, 5)`)
    await sweep()
    expect(await select('select * from dailyMails where day = 1')).toEqual([])
    for (const table of ['joinCodes', 'attempts']) {
      const rows = await select(`select subject from ${table} where subject in ('old', 'live')`)
      expect(rows, table).toEqual([{ subject: 'live' }])
    }
  })

  it('continues if one step fails', async () => {
    const error = silenceErrors()
    await select(
      `insert into joinCodes (subject, address, codeHash, issuedAt, expiresAt) values ('stale', 'a', 'x', 0, 1)`,
    )
    await select('insert into purgeJobs values (987654, ?)', Date.now())
    await sweep({ IMAGES: BROKEN_BUCKET })
    expect(error.mock.calls.join()).toContain('bucket is down')
    expect(await select(`select subject from joinCodes where subject = 'stale'`)).toEqual([])
  })
})
