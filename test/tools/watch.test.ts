import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { ALERTS, evaluate, type LogLine, type Source, type Sources, type Watched } from '../../scripts/watch/alerts.ts'
import { parseLog, readDeployedLog, readHealth } from '../../scripts/watch/sources.ts'
import { addMember, createDatabase, createFolder, runWatchScript } from './databases.ts'
import { startSmtpServer } from './serve.ts'

/** The rows of the table of alerts in the docs, without links and heading. */
const readTable = () => {
  const [, section = ''] = readFileSync('docs/operations.md', 'utf8').split('\n### Alerts\n')
  const [table = ''] = /(?:^\|.*\n)+/m.exec(section) ?? []
  const rows = table.trim().split('\n').slice(2)
  const withoutLinks = rows.map((row) => row.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1'))
  return withoutLinks.map((row) => row.split(' | ').map((cell) => cell.replaceAll(/^\| | \|$/g, '')))
}

it('the docs list the alerts', () => {
  const rows = Object.entries(ALERTS).map(([name, { fires, remedy }]) => [`\`${name}\``, fires, remedy])
  expect(readTable()).toEqual(rows)
})

const QUIET: Watched = {
  health: [{ warnings: [] }],
  databases: [{ binding: 'DB', bytes: 5e9, overduePurges: 0 }],
  log: { recent: [], refusals: [] },
}
const toSources = (watched: Watched): Sources => ({
  health: async () => watched.health,
  databases: async () => watched.databases,
  log: async () => watched.log,
})
const request = (fields: LogLine, count = 1): LogLine[] =>
  Array(count).fill({ message: 'request', status: 200, sampleRate: 1, ...fields })
const ofLog = (...recent: LogLine[]) => ({ log: { recent, refusals: [] } })
const LOGIN = { route: '/login', status: 429 }

/** What each alert leaves, and what makes it fire. */
const CASES: Record<keyof typeof ALERTS, [quiet: Partial<Watched>[], firing: [Partial<Watched>, string][]]> = {
  health: [
    [{ health: [{ failure: '503' }, { warnings: [] }] }],
    [
      [{ health: [{ failure: '503' }, { failure: '503 no answer from slot 1' }] }, '503 no answer from slot 1'],
      [{ health: [{ warnings: ['No sweep has succeeded'] }] }, 'No sweep has succeeded'],
    ],
  ],
  settings: [
    [ofLog({ message: 'request' }, { message: 'UNAVAILABLE: bucket: Error' })],
    [
      [ofLog({ message: 'configuration: JWT_SECRET: is missing' }), 'configuration: JWT_SECRET: is missing'],
      [ofLog({ message: 'UNAVAILABLE: NEW_MEMBERS: malformed' }), 'UNAVAILABLE: NEW_MEMBERS: malformed'],
      [ofLog({ message: 'UNAVAILABLE: mail: MAILS_PER_DAY' }), 'UNAVAILABLE: mail: MAILS_PER_DAY'],
    ],
  ],
  errors: [
    // A sampled line stands for ten requests.
    [ofLog(...request({ sampleRate: 0.1 }, 10), ...request({ status: 503 }), { message: 'x', stack: 'at y' })],
    [
      [ofLog(...request({ sampleRate: 0.1 }, 9), ...request({ status: 503 })), 'of 91 requests, 1 had'],
      [ofLog(...request({}, 99), { message: 'x', stack: 'at y' }), '1 lines with stack'],
    ],
  ],
  guessing: [
    [
      ofLog(...request({ ...LOGIN, sampleRate: 0.1 }, 5)),
      ofLog(...request({ route: '/books', status: 429 }, 51)),
      // 5.1 of every five minutes.
      { log: { recent: request(LOGIN, 51), refusals: request({ ...LOGIN, sampleRate: 0.1 }, 147) } },
    ],
    [
      [ofLog(...request(LOGIN, 51)), '51 in five minutes'],
      [{ log: { recent: request(LOGIN, 51), refusals: request({ ...LOGIN, sampleRate: 0.1 }, 146) } }, '51 in five'],
    ],
  ],
  purges: [
    [],
    [[{ databases: [...QUIET.databases, { binding: 'DB_1', bytes: 0, overduePurges: 3 }] }, 'DB_1: 3 members']],
  ],
  size: [[], [[{ databases: [{ binding: 'DB_2', bytes: 5.1e9, overduePurges: 0 }] }, 'DB_2: 5.1 GB']]],
}

it.each(Object.entries(CASES))('%s fires only if it should', async (name, [quiet, firing]) => {
  for (const changed of [{}, ...quiet]) {
    const { problems } = await evaluate(toSources({ ...QUIET, ...changed }))
    expect(problems.filter((problem) => problem.startsWith(`${name}:`))).toEqual([])
  }
  for (const [changed, text] of firing) {
    const { problems } = await evaluate(toSources({ ...QUIET, ...changed }))
    expect(problems).toEqual([expect.stringMatching(`^${name}: `)])
    expect(problems[0]).toContain(text)
  }
})

it('a source that cannot be read is a problem, and alerts without a source are named', async () => {
  const databases = () => Promise.reject(new Error('not logged in'))
  const { problems, leftOut } = await evaluate({ databases })
  expect(problems).toEqual(['databases: cannot be read: not logged in'])
  const others = (source: Source) => source !== 'databases'
  expect(leftOut).toEqual(Object.entries(ALERTS).flatMap(([name, { source }]) => (others(source) ? [name] : [])))
})

const HEALTHY = { status: 'ok', version: 'v1', lastSweep: null }

/** Serves answers, one after another, and returns the address. */
const startAnswering = async (...answers: ((response: ServerResponse) => void)[]) => {
  const server = createServer((_, response) => answers.shift()?.(response)).listen(0, '127.0.0.1')
  const stop = () => {
    server.closeAllConnections()
    server.close()
  }
  onTestFinished(stop)
  await once(server, 'listening')
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop }
}
// Closes the connection: a kept one could end in the middle of the next request.
const answer = (status: number, body: unknown) => (response: ServerResponse) =>
  void response.writeHead(status, { Connection: 'close' }).end(JSON.stringify(body))

it('/health is asked again only after a failure', async () => {
  const down = answer(503, { message: 'Service unavailable' })
  const healthy = answer(200, { ...HEALTHY, warnings: ['Under maintenance'] })
  const { base, stop } = await startAnswering(down, down, down, healthy, healthy)
  const failure = { failure: '503 Service unavailable' }
  const warned = { warnings: ['Under maintenance'] }
  expect(await readHealth(base, 0)).toEqual([failure, failure])
  expect(await readHealth(base, 0)).toEqual([failure, warned])
  expect(await readHealth(base, 0)).toEqual([warned])
  stop()
  const refused = { failure: expect.stringMatching(/^no answer: .*ECONNREFUSED/) }
  expect(await readHealth(base, 0)).toEqual([refused, refused])
})

it.each<[what: string, send: (response: ServerResponse) => void, failure: string]>([
  ['a page', (response) => void response.writeHead(200).end('<h1>Welcome</h1>'), '200 is not an answer of the service'],
  ['another status', answer(200, { ...HEALTHY, status: 'error' }), '200 is not'],
  ['no version', answer(200, { status: 'ok' }), '200 is not'],
  ['null', answer(200, null), '200 is not'],
  ['warnings that are no list', answer(200, { ...HEALTHY, warnings: 5 }), '200 is not'],
  ['warnings that are no texts', answer(200, { ...HEALTHY, warnings: [{}] }), '200 is not'],
  ['no JSON', (response) => void response.writeHead(502).end('Bad Gateway'), '502 is not'],
  ['a redirect', (response) => void response.writeHead(302, { Location: '/healthy' }).end(), '302 is not'],
  ['half a body', (response) => void response.writeHead(200).write('{"status":'), 'no answer: TimeoutError'],
])('%s is not an answer of a healthy service', async (_, send, failure) => {
  const { base } = await startAnswering(send, send, answer(200, HEALTHY))
  const expected = { failure: expect.stringContaining(failure) }
  expect(await readHealth(base, 0, 200)).toEqual([expected, expected])
})

const LINE = '{"message":"request","status":503}'

it.each([
  LINE,
  `library-1  | ${LINE}`,
  `Nov 27 10:33:51 nas npm[1]: ${LINE}\r`,
  `\u001b[36mlibrary-1  |\u001b[0m ${LINE}`,
])('a log is read line by line, whatever is around the JSON: %j', async (line) => {
  const log = parseLog(`library-1  | Serving data\n${line}\n`)
  expect(log?.recent).toMatchObject([{ message: 'request', status: 503 }])
  expect((await evaluate({ log: async () => log })).problems).toEqual([
    expect.stringMatching(/^errors: of 1 requests, 1/),
  ])
})

it.each(['', '\n', 'Serving data\n', 'library-1  | {"message":"req\n', '5\n'])(
  '%j is no log to look at',
  async (text) => {
    const { problems, leftOut } = await evaluate({ ...toSources(QUIET), log: async () => parseLog(text) })
    expect({ problems, leftOut }).toEqual({ problems: [], leftOut: ['settings', 'errors', 'guessing'] })
  },
)

it.each([
  '{"message":5}',
  '{"stack":5,"route":{}}',
  '{"message":"request","sampleRate":0}',
  '{"message":"request","sampleRate":1e-9}',
])('%s in a log hides no alert', async (line) => {
  const setting = '{"message":"configuration: JWT_SECRET: is missing"}'
  const failed = `${LINE}\n`.repeat(11)
  const { problems } = await evaluate({ log: async () => parseLog(`${line}\n${failed}${setting}\n`) })
  expect(problems).toEqual([expect.stringMatching(/^settings: /), expect.stringMatching(/^errors: .* 11 had a 5xx/)])
})

it('the log of a deployment is read page by page, and the refusals of a day besides', async () => {
  const NOW = Date.parse('2026-11-20T09:00:00Z')
  const bodies: { timeframe: { from: number }; offset?: string; parameters: { filters: object[] } }[] = []
  const toEvents = (count: number, source: unknown) =>
    Array.from({ length: count }, (_, at) => ({ source, $metadata: { id: `event-${at}` } }))
  const pages = [
    toEvents(2000, { message: 'request' }),
    toEvents(1, '{"message":"x","stack":"at y"}'),
    toEvents(3, LOGIN),
  ]
  vi.stubGlobal('fetch', async (url: string, { body, headers }: { body: string; headers: object }) => {
    expect(url).toBe('https://api.cloudflare.com/client/v4/accounts/a/workers/observability/telemetry/query')
    expect(headers).toMatchObject({ Authorization: 'Bearer t' })
    bodies.push(JSON.parse(body))
    const events = pages.shift()
    if (!events)
      return Response.json({ success: false, errors: [{ message: 'Authentication error' }] }, { status: 403 })
    return Response.json({ success: true, result: { events: { events } } })
  })
  onTestFinished(() => void vi.unstubAllGlobals())
  const read = () => readDeployedLog({ account: 'a', token: 't', worker: 'reading-library' }, NOW)
  const { recent, refusals } = await read()
  expect([recent.length, recent.at(-1), refusals.length]).toEqual([2001, { message: 'x', stack: 'at y' }, 3])
  expect(bodies.map(({ timeframe, offset }) => [NOW - timeframe.from, offset])).toEqual([
    [300_000, undefined],
    [300_000, 'event-1999'],
    [86_400_000, undefined],
  ])
  const ofWorker = { key: '$metadata.service', operation: 'eq', type: 'string', value: 'reading-library' }
  const refused = { key: 'status', operation: 'eq', type: 'number', value: 429 }
  expect(bodies.map(({ parameters }) => parameters.filters)).toEqual([[ofWorker], [ofWorker], [ofWorker, refused]])
  await expect(read()).rejects.toThrow('403 Authentication error')
})

it('the command looks at every database, mails what is wrong, and exits with 1', { tags: ['slow'] }, async () => {
  const data = createFolder()
  using _main = createDatabase(data)
  using other = createDatabase(data, 'DB_1')
  writeFileSync(join(data, 'slots.json'), '[{"slot":1}]')
  other.exec('insert into purgeJobs (memberId, createdAt) values (1, 0)')
  const { url, mails } = await startSmtpServer()
  const log = join(data, 'log')
  writeFileSync(log, '{"message":"configuration: JWT_SECRET: is missing"}\n')
  const variables = { SMTP_URL: url, MAIL_FROM: 'library@example.com', CLOUDFLARE_API_TOKEN: '' }
  const watch = (...args: string[]) => runWatchScript(variables, '--local', '--persist-to', data, ...args)

  const { code, stdout, stderr } = await watch('--log', log, '--mail', 'mina@example.com')
  expect([code, stdout]).toEqual([1, 'Not looked at: health\n'])
  const problems = ['settings: configuration: JWT_SECRET: is missing', 'purges: DB_1: 1 members']
  for (const problem of problems) expect(stderr).toContain(problem)
  expect(mails).toMatchObject([{ from: 'library@example.com', to: 'mina@example.com' }])
  for (const problem of problems) expect(mails[0]?.text).toContain(problem)

  // Back after a restore.
  addMember(other, [])
  expect(await watch()).toMatchObject({ code: 0, stdout: expect.stringContaining('No alerts\n') })
  expect((await runWatchScript(variables)).code).toBe(2)
  const { stderr: missing } = await runWatchScript(variables, '--local', '--persist-to', join(data, 'missing'))
  expect(missing).toMatch(/^databases: cannot be read: .+missing has no database: set --persist-to/)
})
