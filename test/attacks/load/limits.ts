// What one member can do: write without end, write twice by a late retry, keep images that nothing lists.
import { setTimeout } from 'node:timers/promises'
import { PIXEL } from '../../support/inputs/file-form'
import type { Fault } from '../failures/faults/inject'
import {
  type Attack,
  type Context,
  countStatuses,
  createChecks,
  mapConcurrently,
  mergeReports,
  type Report,
} from '../harness/attack'
import { insertMember, jsonRequest, registerBook, uploadRequest } from '../harness/members'

const writeWithoutEnd = async ({ start, quick, progress }: Context): Promise<Report> => {
  const [limit, writes] = quick ? [50, 120] : [1000, 2400]
  const service = await start({ writesPerMinute: limit })
  const [eager, other] = [await insertMember(service), await insertMember(service)]
  progress(`${writes} writes`)
  const rename = ({ token }: typeof eager) => jsonRequest('PATCH', '/members/me', { name: 'Eager' }, { token })
  // A new minute may start meanwhile and reset the count.
  const numbers = Array.from({ length: writes }, (_, n) => n)
  const statuses = await mapConcurrently(8, numbers, async () => (await service.request(rename(eager))).status)
  const { failures, check } = createChecks()
  check('a write above the limit', statuses.includes(429), true)
  check('a write of another member', (await service.request(rename(other))).status, 200)
  return {
    figures: [
      [`writes of one member, limited to ${limit.toLocaleString('en')} a minute`, writes, countStatuses(statuses)],
    ],
    failures,
  }
}

/** A write that fails just before its timeout must not be tried again after the client got its 503. */
const writeLate = async ({ start, progress }: Context): Promise<Report> => {
  const service = await start({ entry: 'test/attacks/workers/faulty.ts', writesPerMinute: 1e6 })
  const { token, ...member } = await insertMember(service)
  const bookId = await registerBook(service, { token, ...member })
  const fault: Fault = { binding: 'DB', call: 1, kind: 'fails late' }
  const rate = (star: number, headers = '') =>
    service.request(jsonRequest('PATCH', `/books/${bookId}`, { star }, { token, headers }))
  progress('a write that fails late')
  const { failures, check } = createChecks()
  check('the late write', (await rate(1, `X-Fault: ${JSON.stringify(fault)}\r\n`)).status, 503)
  check('the next write', (await rate(2)).status, 200)
  await setTimeout(2000)
  const { body } = await service.request({ method: 'GET', path: `/books/${bookId}?memoAuthority=ALL`, token })
  const { star } = body as { star: number }
  check('the stored value', star, 2)
  return {
    figures: [['writes that fail 50 ms before their timeout', 1, `later value ${star === 2 ? 'kept' : 'lost'}`]],
    failures,
  }
}

const keepImages = async ({ start }: Context): Promise<Report> => {
  const service = await start()
  const member = await insertMember(service)
  const { token } = member
  const path = new URL(String((await service.request(uploadRequest(member, PIXEL))).body)).pathname
  const { failures, check } = createChecks()
  const list = async () => {
    const { body } = await service.request({ method: 'GET', path: '/images?page=1&size=10', token })
    return (body as { item: unknown[] }).item.length
  }
  check('images listed', await list(), 1)
  check('deletion', (await service.request({ method: 'DELETE', path, token })).status, 204)
  check('images listed afterwards', await list(), 0)
  check('the deleted image', (await service.request({ method: 'GET', path })).status, 404)
  const search = `/ext-lib/${encodeURIComponent('광장')}/${encodeURIComponent('구운몽')}`
  check('a search with a slash', (await service.request({ method: 'GET', path: search })).status, 200)
  return { figures: [['images listed, deleted and gone', 1, `${failures.length} problems`]], failures }
}

/** The provider's requests of a day must not be used up by one network, or by one IPv6 /48. */
const useUpCatalogue = async ({ start, quick, progress }: Context): Promise<Report> => {
  const service = await start({
    entry: 'test/attacks/workers/faulty.ts',
    vars: { CATALOGUE_PROVIDER: 'open-library' },
  })
  progress('searches of the catalogue')
  const searchFrom = async (networks: string[]) => {
    const statuses: number[] = []
    for (const [n, network] of networks.entries()) {
      statuses.push((await service.request({ method: 'GET', path: `/ext-lib/${n}`, network })).status)
    }
    return statuses
  }
  const [ofOne, ofSite] = quick ? [105, 305] : [400, 400]
  const one = await searchFrom(Array<string>(ofOne).fill('198.51.100.7'))
  const site = await searchFrom(Array.from({ length: ofSite }, (_, n) => `2001:db8:9:${n % 8}::1`))
  const [other] = await searchFrom(['198.51.100.8'])
  progress('searches of members who share a network')
  const searchAs = async ({ token }: { token: string }, times: number) => {
    const statuses: number[] = []
    for (let n = 0; n < times; n++) {
      const path = `/catalogue/search?q=${n}`
      statuses.push((await service.request({ method: 'GET', path, token, network: '198.51.100.7' })).status)
    }
    return statuses
  }
  const ofMember = quick ? 205 : 400
  const member = await searchAs(await insertMember(service), ofMember)
  const [otherMember] = await searchAs(await insertMember(service), 1)
  const { failures, check } = createChecks()
  check('searches of one network', countStatuses(one), `100 × 200, ${ofOne - 100} × 429`)
  check('searches of an IPv6 /48', countStatuses(site), `300 × 200, ${ofSite - 300} × 429`)
  check('a search of another network', other, 200)
  check('searches of a member', countStatuses(member), `200 × 200, ${ofMember - 200} × 429`)
  check('a search of another member of the network', otherMember, 200)
  return {
    figures: [
      ['searches of the catalogue from one network', one.length, countStatuses(one)],
      ['the same from 8 networks of one IPv6 /48', site.length, countStatuses(site)],
      ['the same of one member', member.length, countStatuses(member)],
    ],
    failures,
  }
}

export const limits: Attack = async (context) =>
  mergeReports(
    await writeWithoutEnd(context),
    await writeLate(context),
    await keepImages(context),
    await useUpCatalogue(context),
  )
