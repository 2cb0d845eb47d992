// What devices must not do, and what others must not do as devices.
import { randomBytes } from 'node:crypto'
import { SCOPES, type Scope } from '../../../src/values/contract'
import { MAX_DOCUMENTS } from '../../../src/values/prices'
import { statisticsFile } from '../../support/devices/statistics-file'
import { addressOf, bodyOf, operations } from '../../support/document/operations'
import { takeSnapshot } from '../../support/stores'
import { insertAccessToken } from '../../support/tokens'
import { type Context, countStatuses, createChecks, type Figure, mapConcurrently, type Report } from '../harness/attack'
import { insertMember, jsonRequest, type Member, registerBook } from '../harness/members'
import type { Service } from '../harness/service'
import { addDevice, type Device } from './device'

const lines = (headers: Record<string, string>) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
const asDevice = ({ md5, username }: Pick<Device, 'md5' | 'username'>) =>
  lines({ 'x-auth-user': username, 'x-auth-key': md5 })
const push = (document: string, device: Pick<Device, 'md5' | 'username'>, metadata?: object) =>
  jsonRequest(
    'PUT',
    '/koreader/syncs/progress',
    { document, progress: 'x', percentage: 0.5, device: 'Kobo', device_id: '1', metadata },
    { headers: asDevice(device) },
  )

/** The addresses of devices, with a valid request to each. */
const PROTOCOLS: { method: string; path: string; body?: string }[] = [
  { method: 'GET', path: '/koreader/users/auth' },
  { method: 'GET', path: `/koreader/syncs/progress/${'a'.repeat(32)}` },
  {
    method: 'PUT',
    path: '/koreader/syncs/progress',
    body: JSON.stringify({ document: 'a'.repeat(32), progress: 'x', percentage: 0.5, device: 'Kobo', device_id: '1' }),
  },
  { method: 'PROPFIND', path: '/dav/' },
  { method: 'MKCOL', path: '/dav/Books' },
  { method: 'PUT', path: '/dav/a.json', body: '{"documents":[{"title":"Stolen","entries":[]}]}' },
  { method: 'GET', path: '/dav/statistics.sqlite3' },
  { method: 'PUT', path: '/dav/statistics.sqlite3', body: 'x' },
  { method: 'GET', path: '/readwise/api/v2/auth/' },
  { method: 'POST', path: '/readwise/api/v2/highlights/', body: '{"highlights":[{"text":"x","title":"Stolen"}]}' },
]

/** No operation takes the token of a device, and no address of devices another token. */
const tryScopes = async (service: Service, owner: Member, device: Device) => {
  const failures: string[] = []
  const expectRefusal = (what: string, status: number) => {
    if (status !== 401 && status !== 403) failures.push(`${what}: ${status}`)
  }
  const before = await takeSnapshot(service.databases)
  const closed = operations.filter(({ needsToken }) => needsToken)
  for (const operation of closed) {
    const { method, types } = operation
    const body = method === 'GET' ? undefined : JSON.stringify(bodyOf(operation))
    const headers = lines({ Authorization: `Bearer ${device.token}` })
    const request = { method, path: addressOf(operation), headers, body, type: types[0] ?? 'application/json' }
    const { status } = await service.request(request)
    expectRefusal(`a device, ${method} ${operation.template}`, status)
  }
  const script = await insertAccessToken(service.database, owner.memberId, Object.keys(SCOPES) as Scope[], service.slot)
  service.secrets.add(script)
  for (const [name, token] of [
    ['an access token with all scopes', script],
    ['a session', owner.token],
  ] as const) {
    const credentials = [
      `Bearer ${token}`,
      `Token ${token}`,
      `Basic ${Buffer.from(`${device.username}:${token}`).toString('base64')}`,
    ]
    for (const { method, path, body } of PROTOCOLS) {
      for (const Authorization of credentials) {
        const { status } = await service.request({ method, path, body, headers: lines({ Authorization, Depth: '0' }) })
        expectRefusal(`${name}, ${method} ${path}`, status)
      }
    }
  }
  if ((await takeSnapshot(service.databases)) !== before) failures.push('a refused token changed the database')
  return { count: closed.length + 6 * PROTOCOLS.length, failures }
}

/** Guesses of the key count towards the limit of their network only. */
const tryGuesses = async (service: Service, owner: Member, device: Device, count: number) => {
  const { check, failures } = createChecks()
  const [network, other] = ['192.0.2.40', '192.0.2.41']
  const countAttempts = () => service.directory.prepare('select count(*) as n from attempts').first<number>('n')
  const before = await countAttempts()
  const guesses = Array.from({ length: count }, () => ({ ...device, md5: randomBytes(16).toString('hex') }))
  const statuses = await mapConcurrently(8, guesses, async (guess) => {
    const request = { method: 'GET', path: '/koreader/users/auth', headers: asDevice(guess), network }
    return (await service.request(request)).status
  })
  check(
    'guesses with another answer than 401 or 429',
    statuses.filter((status) => status !== 401 && status !== 429).length,
    0,
  )
  check('attempts counted', await countAttempts(), before)
  const isPushed = async (network: string) => (await service.request({ ...push('guessed', device), network })).status
  check('a push from the network of the guesses', await isPushed(network), 200)
  check('a push from another network', await isPushed(other), 200)
  const { status } = await service.request({ method: 'GET', path: '/members/me', token: owner.token, network })
  check('the member', status, 200)
  return { failures, statuses: countStatuses(statuses) }
}

/** What a stranger sees of the devices of another member, and can change of it. */
const tryOthers = async (service: Service, owner: Member, device: Device) => {
  const { check, failures } = createChecks()
  const stranger = await insertMember(service)
  const own = await addDevice(service, stranger)
  const document = 'c'.repeat(32)
  const title = 'Low Tide'
  await registerBook(service, owner, { title, author: 'Ana Ruiz', itemPage: 300, bookStatus: 'ING' })
  await service.request(push(document, device, { title, authors: 'Ana Ruiz', filename: 'a.epub' }))
  const upload = (title: string, by: Device) =>
    service.request({
      ...{ method: 'PUT', path: '/dav/statistics.sqlite3', token: by.token },
      body: statisticsFile({ title, authors: 'Ana Ruiz', rows: [{ start: '2026-03-01T10:00:00Z', seconds: 90 }] }),
    })
  check('reading statistics', (await upload(title, device)).status, 204)
  const before = await takeSnapshot(service.databases)
  const file = await service.request({ method: 'GET', path: '/dav/statistics.sqlite3', token: own.token })
  check('the statistics of another member', file.status, 404)
  const pulled = await service.request({
    method: 'GET',
    path: `/koreader/syncs/progress/${document}`,
    headers: asDevice(own),
  })
  check('a pull of the document of another member', JSON.stringify(pulled.body), '{}')
  const since = { since: '2020-01-01T00:00:00Z' }
  const attempts = [
    jsonRequest('PUT', `/documents/${document}/book`, { bookId: null }, { token: stranger.token }),
    jsonRequest('POST', `/tokens/${device.tokenId}/undo`, since, { token: stranger.token }),
    { method: 'GET', path: `/tokens/${device.tokenId}/changes`, token: stranger.token },
  ]
  for (const request of attempts)
    check(`${request.method} ${request.path} of a stranger`, (await service.request(request)).status, 404)
  const listed = await service.request({ method: 'GET', path: '/documents', token: stranger.token })
  check('documents of a stranger', (listed.body as { item: unknown[] }).item.length, 0)
  if ((await takeSnapshot(service.databases)) !== before) failures.push('a stranger changed the database')
  // The same statistics and documents of another member are others.
  const rowsOf = () => takeSnapshot(service.databases, owner.memberId)
  const ofOwner = await rowsOf()
  check('statistics of the stranger', (await upload(title, own)).status, 204)
  if ((await rowsOf()) !== ofOwner) failures.push('the statistics of a stranger changed those of the owner')
  await service.request(push(document, own))
  const { body } = await service.request({ method: 'GET', path: '/documents', token: stranger.token })
  check('documents of the stranger after a push', (body as { item: unknown[] }).item.length, 2)
  return { failures, count: attempts.length + 4 }
}

/**
 * A device that pushes ever new documents is not refused, and fills nothing.
 * @param earlier documents that it has pushed before: inserted, as pushing them takes long
 */
const tryFlood = async (service: Service, count: number, earlier: number) => {
  const { check, failures } = createChecks()
  const member = await insertMember(service)
  const device = await addDevice(service, member)
  const statistics = statisticsFile({ title: 'Read', rows: [{ start: '2026-03-01T10:00:00Z', seconds: 90 }] })
  await service.request({ method: 'PUT', path: '/dav/statistics.sqlite3', token: device.token, body: statistics })
  const insertEarlier = (columns: string, values: string) =>
    service.database
      .prepare(
        `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)
        insert into ${columns} select ${values} from n where i <= ?1`,
      )
      .bind(earlier, member.memberId, Date.now(), device.tokenId)
      .run()
  await insertEarlier('documents (memberId, document, createdAt)', `?2, 'earlier ' || i, ?3 + 0 * length(?4)`)
  await insertEarlier(
    'positions (memberId, document, tokenId, at, percentage, progress, device, deviceId)',
    `?2, 'earlier ' || i, ?4, ?3, 0.5, '1', '', ''`,
  )
  const names = Array.from({ length: count }, (_, n) => `flood ${n}`)
  const statuses = await mapConcurrently(8, names, async (name) => (await service.request(push(name, device))).status)
  check('pushes', countStatuses(statuses), `${count} × 200`)
  const countOf = (table: string) =>
    service.database
      .prepare(`select count(*) as n from ${table} where memberId = ?`)
      .bind(member.memberId)
      .first<number>('n')
  const documents = Number(await countOf('documents'))
  check('documents at most', documents <= MAX_DOCUMENTS + 1, true)
  check('positions', Number(await countOf('positions')), documents - 1)
  check('sittings', Number(await countOf('sittings')), 1)
  const undo = jsonRequest('POST', `/tokens/${device.tokenId}/undo`, { since: '2020-01-01T00:00:00Z' }, member)
  for (let hasMore = true; hasMore; ) {
    const { status, body } = await service.request(undo)
    check('the undo', status, 200)
    hasMore = status === 200 && (body as { hasMore: boolean }).hasMore
  }
  check('documents after the undo', Number(await countOf('documents')), 0)
  return { failures, documents }
}

export const refuseIntruders = async ({ quick, start, progress }: Context): Promise<Report> => {
  const service = await start({ uploadsPerMinute: 1e9 })
  const owner = await insertMember(service)
  const device = await addDevice(service, owner)
  progress('tokens in other places')
  const scopes = await tryScopes(service, owner, device)
  progress('documents and tokens of others')
  const others = await tryOthers(service, owner, device)
  const [earlier, flooded] = quick ? [MAX_DOCUMENTS - 20, 100] : [0, 100_000]
  progress(`${flooded} documents`)
  const flood = await tryFlood(service, flooded, earlier)
  const guessed = quick ? 700 : 20_000
  progress(`${guessed} guesses of a key`)
  const guesses = await tryGuesses(service, owner, device, guessed)
  const figures: Figure[] = [
    ['requests with tokens for other operations', scopes.count, `${scopes.failures.length} accepted`],
    ['requests for what others have', others.count, `${others.failures.length} answered`],
    ['documents that a device pushed', flooded, `${flood.documents} kept, ${flood.failures.length} failures`],
    ['guesses of a key of KOReader', guessed, guesses.statuses],
  ]
  return { figures, failures: [scopes, others, flood, guesses].flatMap(({ failures }) => failures) }
}
