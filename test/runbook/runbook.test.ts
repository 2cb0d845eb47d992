// @module-tag slow
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { type Command, readCommands } from '../support/document/commands.ts'
import { createOperator, type Given } from './operator.ts'
import { type Member, WHOLE } from './service.ts'

/** Commands that are not run, in the order of the documents, and why. */
const NOT_RUN: [command: string, reason: string][] = [
  ['npx wrangler login', 'opens a browser'],
  ['npx wrangler tail', 'prints the log of a deployed Worker until it is stopped'],
  ['npx wrangler email sending list', 'lists the domains of an account'],
  ['git switch --detach COMMIT && npm ci && npm run deploy', 'downloads the packages of another commit'],
  ['npm run bench -- passwords', 'takes minutes; test/commands runs it with --quick'],
]

const DOCUMENTS = ['docs/deploy.md', 'docs/operations.md']
const commands = DOCUMENTS.flatMap(readCommands)
const executed = new Set<string>()

const operator = await createOperator()
const { account, service, folder } = operator
afterAll(operator.end)

type Options = Given & { replaced?: Record<string, string>; code?: number }
type Section = {
  /** Runs the next command that begins with this text. @returns what it printed */
  run: (start: string, options?: Options) => Promise<string>
  /** Runs the next command that begins with this text as a service. */
  serve: (start: string, replaced?: Record<string, string>) => ReturnType<typeof operator.serve>
}

type Steps = (section: Section) => Promise<void>

const replaceAll = (text: string, replaced: Record<string, string>) =>
  Object.entries(replaced).reduce((replacing, [from, to]) => replacing.replaceAll(from, to), text)

/** Follows a section of a document, whose commands are run in their order. */
const follow = (document: string, heading: string, part: string, steps: Steps) =>
  it([document, heading, part].filter(Boolean).join(': '), async () => {
    const own = commands.filter((command) => command.document === document && command.heading === heading)
    let at = 0
    const take = (start: string, replaced: Record<string, string> = {}) => {
      const index = own.findIndex(({ text }, position) => position >= at && text.startsWith(start))
      const { text } = own[index] ?? {}
      if (text === undefined) throw new Error(`"${heading}" in ${document} has no further command: ${start}`)
      at = index + 1
      const command = replaceAll(text, {
        '--remote': '--local',
        '/tmp/restored': join(folder, 'restored'),
        ...replaced,
      })
      executed.add(text).add(command)
      return command
    }
    await steps({
      run: async (start, { replaced, code = 0, ...given } = {}) => {
        const ran = await operator.run(take(start, replaced), given)
        expect(ran, start).toEqual({ code, output: ran.code === code ? ran.output : '' })
        return ran.output
      },
      serve: async (start, replaced) => operator.serve(take(start, replaced)),
    })
  })

// deploy.md comes first, since operations.md works on what it deploys.

let jun: Member

const variables = { JWT_SECRET: 'a secret of the first deployment, to sign tokens' }

follow('deploy.md', 'Deployment', '', async ({ run }) => {
  expect(await run('npm run deploy -- --dry-run')).toContain('Worker reading-library: upload with its missing settings')
  expect(await run('npm run deploy', { variables })).toContain('Serving at https://reading-library.mina.workers.dev')
  expect(Object.keys(account.production.secrets ?? {}).sort()).toEqual(['JWT_SECRET', 'MAIL_FROM', 'PUBLIC_URL'])
  jun = await service.addMember('jun@example.com')
  expect(await service.look(jun)).toEqual(WHOLE)
})

follow('deploy.md', 'Gradually', '', async ({ run }) => {
  Object.assign(account.state, { versions: ['old'], shares: { old: 100 } })
  await run('npm run deploy -- --percentage 10')
  expect(account.state.shares).toEqual({ new: 10, old: 90 })
  await run('npm run deploy -- --promote')
  expect(account.state.shares).toEqual({ new: 100 })
  account.state.shares = { new: 10, old: 90 }
  await run('npm run deploy -- --rollback')
  expect(account.state.shares).toEqual({ old: 100 })
})

follow('deploy.md', 'Staging', '', async ({ run }) => {
  const before = structuredClone(account.production)
  await run('npm run deploy -- --env staging', {
    variables: { JWT_SECRET: 'a secret of its own for the staging environment' },
  })
  const { config, secrets } = account.deployments['reading-library-staging'] ?? {}
  const names = [
    config?.d1_databases[0]?.database_name,
    config?.r2_buckets[0]?.bucket_name,
    config?.services?.[0]?.service,
  ]
  expect(names).toEqual([
    'reading-library-staging',
    'reading-library-images-staging',
    'reading-library-reader-3-staging',
  ])
  expect(secrets?.JWT_SECRET).not.toBe(before.secrets?.JWT_SECRET)
  expect([account.production.secrets, account.production.config]).toEqual([before.secrets, before.config])
  expect(await service.look(jun)).toEqual(WHOLE)
})

follow('deploy.md', 'Configuration', '', async ({ run, serve }) => {
  const contact = 'mailto:security@library.example'
  await run('npx wrangler secret put NAME', { replaced: { NAME: 'SECURITY_CONTACT' }, input: contact })
  expect(String((await service.get('/.well-known/security.txt')).bytes)).toContain(contact)

  const dev = await serve('npm run dev -- --var', { 'NAME:VALUE': 'EMAIL_VERIFICATION:required' })
  expect(await dev.post('/email/join', { joinAuthCodeEmail: 'new@example.com' })).toMatchObject({ status: 201 })
  await vi.waitFor(() => expect(dev.output()).toMatch(/^\d{6}\b/m), 120_000)
  await dev.stop()
})

// With one database.
follow('operations.md', 'Restoring a backup', 'rehearsal', async ({ run, serve }) => {
  await operator.run('npm run backup -- backups/may --local')
  expect(await run('npm run restore -- backups/may --local')).toContain('no mismatches')
  const dev = await serve('npm run dev -- --persist-to')
  expect(await dev.look(jun)).toEqual(WHOLE)
  await dev.stop()
  rmSync(join(folder, 'backups'), { recursive: true })
})

let ADDRESS_KEY = ''

follow('deploy.md', 'From GitHub', '', async ({ run }) => {
  ADDRESS_KEY = (await run('openssl rand -base64 48')).trim()
  expect(ADDRESS_KEY).toMatch(/^[\w+/]{64}$/)
})

const [, TABLE = ''] = /^```json\n([^`]+)^```/m.exec(readFileSync('docs/deploy.md', 'utf8')) ?? []
let mina: Member

follow('deploy.md', 'Several databases', '', async ({ run }) => {
  writeFileSync(join(folder, 'slots.json'), TABLE)
  await run('npm run deploy', { variables: { ADDRESS_KEY } })
  expect(account.state.databases).toEqual(expect.arrayContaining(['reading-library-slot-1', 'library-eu']))
  expect(readFileSync(join(folder, 'slots.json'), 'utf8')).toContain('"name": "reading-library-slot-1"')
  expect(account.state.jurisdictions).toEqual({ 'library-eu': 'eu' })
  expect(account.production.secrets).toMatchObject({ ADDRESS_KEY })
  expect((await service.get('/health')).json).toMatchObject({ status: 'ok', slots: [0, 1, 2, 3] })
  mina = await service.addMember('mina@example.com', 'EU')
  const sora = await service.addMember('sora@example.com')
  expect([jun, mina, sora].map(({ memberId }) => Math.floor(memberId / 2 ** 40))).toEqual([0, 1, 3])
  for (const member of [jun, mina, sora]) expect(await service.look(member)).toEqual(WHOLE)
})

follow('operations.md', 'Logs', '', async ({ run }) => {
  account.within('reading-library', (database) => database.exec('delete from images'))
  expect(await run('npm run db -- verify --repair')).toContain('rows of images added: ')
})

follow('operations.md', 'Alerts', '', async ({ run }) => {
  const watch = 'npm run watch -- https://library.example.com'
  expect(await run(watch)).toContain('No alerts')
  account.within('library-eu', (database) => database.exec('insert into purgeJobs (memberId, createdAt) values (9, 0)'))
  const { code, output } = await operator.run(`${watch} --local`)
  expect([code, output]).toEqual([1, expect.stringContaining('purges: DB_2: 1 members')])
  account.within('library-eu', (database) => database.exec('delete from purgeJobs'))
})

follow('operations.md', 'Rolling back', '', async ({ run }) => {
  account.state.shares = { new: 10, old: 90 }
  await run('npm run deploy -- --rollback')
  expect(account.state.shares).toEqual({ old: 100 })
  account.state.shares = { new: 100 }
  expect(await run('npx wrangler versions list')).toContain('old')
  await run('npx wrangler rollback', { replaced: { VERSION_ID: 'old' } })
  expect(account.state.shares).toEqual({ old: 100 })
})

follow('operations.md', 'Long migrations', '', async ({ run }) => {
  await run('echo on | npx wrangler secret put MAINTENANCE')
  expect(await service.signUp('early@example.com')).toMatchObject({ status: 503 })
  expect(await run('npm run deploy')).toContain('Serving at')
  await run('npx wrangler secret delete MAINTENANCE')
  const file = join(folder, 'titles.sql')
  const chosen = 'select bookId from books where bookId > ?1 order by bookId limit 1'
  writeFileSync(file, `update books set title = title where bookId in (${chosen}) returning bookId as key`)
  expect(await run('npm run db -- fill FILE', { replaced: { FILE: file } })).toMatch(/DB: 1 rows[\s\S]+DB_1: 1 rows/)
  expect(await service.look(jun)).toEqual(WHOLE)
})

follow('operations.md', 'Several databases', '', async ({ run, serve }) => {
  expect(await run('npm run db -- slots')).toMatch(/DB_3 .*\b1\b/)
  const kept = [`${account.data}`, `${account.data}.kept`] as const
  renameSync(...kept)
  const dev = await serve('npm run dev -- --slots 3')
  const member = await dev.addMember('new@example.com')
  expect(Math.floor(member.memberId / 2 ** 40)).toBe(1)
  expect(await dev.look(member)).toEqual(WHOLE)
  expect((await dev.get('/health')).json).toMatchObject({ slots: [0, 1, 2] })
  await dev.stop()
  rmSync(account.data, { recursive: true })
  renameSync(kept[1], kept[0])
})

const addBook = async () => {
  const book = { title: 'Another', author: 'Ana Ruiz', bookStatus: 'ING' }
  return (await service.post('/books', book, (await service.logIn(jun.email)).authorization)).json.bookId
}

follow('operations.md', 'Time Travel', '', async ({ run }) => {
  const timestamp = '2026-11-20T09:00:00Z'
  await service.stop()
  account.keep('reading-library', timestamp)
  const lost = await addBook()
  expect((await service.look(jun)).books).toHaveLength(2)
  await run('echo on | npx wrangler secret put MAINTENANCE')
  expect(await run('npx wrangler d1 time-travel info')).toContain('bookmark')
  expect(await run('npx wrangler d1 time-travel restore')).toContain('bookmark')
  expect(await service.signUp('early@example.com')).toMatchObject({ status: 503 })
  expect(await run('npm run db -- verify --repair --after-restore 0')).toContain('no mismatches')
  await run('npx wrangler secret delete MAINTENANCE')
  expect(await service.look(jun)).toEqual(WHOLE)
  const added = await addBook()
  expect(added).toBeGreaterThan(lost)
  const { authorization } = await service.logIn(jun.email)
  expect(await service.send('DELETE', `/books/${added}`, { token: authorization })).toMatchObject({ status: 204 })
})

follow('operations.md', 'Backups', '', async ({ run }) => {
  expect(await run('npm run backup -- backups/may')).toContain('backups/may: complete')
  expect(await run('npm run backup -- rehearse backups/may')).toContain('no mismatches')
})

follow('operations.md', 'Restoring a backup', 'of a lost account', async ({ run }) => {
  const { secrets: { JWT_SECRET = '' } = {}, config } = account.production
  await service.stop()
  delete account.production.secrets
  Object.assign(account.state, { databases: [], buckets: [], namespaces: [] })
  rmSync(join(account.data, 'v3'), { recursive: true })

  await run('npx wrangler d1 create reading-library')
  for (const { database_name } of config?.d1_databases.slice(1) ?? [])
    await operator.run(`npx wrangler d1 create ${database_name}`)
  await run('npx wrangler r2 bucket create')
  expect(await run('npm run restore')).toContain('no mismatches')
  await run('npm run deploy', { variables: { JWT_SECRET, ADDRESS_KEY } })
  for (const member of [jun, mina]) expect(await service.look(member)).toEqual(WHOLE)
})

follow('operations.md', 'The directory of addresses', '', async ({ run }) => {
  const replaced = { '…': ADDRESS_KEY }
  await run('ADDRESS_KEY=… npm run db -- slots rebuild all', { replaced })
  expect(await run('ADDRESS_KEY=… npm run db -- verify', { replaced })).toContain('no mismatches')
  expect(await service.signUp(mina.email)).toMatchObject({ status: 409 })
})

follow('operations.md', 'Changing ADDRESS_KEY', '', async ({ run }) => {
  const NEW = (await run('openssl rand -base64 48')).trim()
  const variables = { NEW }
  await run('ADDRESS_KEY="$NEW" npm run db -- slots rebuild all', { variables })
  for (const { email } of [jun, mina]) expect(await service.logIn(email)).toMatchObject({ status: 200 })
  expect(await service.signUp('early@example.com')).toMatchObject({ status: 503 })
  await run('echo "$NEW" | npx wrangler secret put ADDRESS_KEY', { variables })
  expect(account.production.secrets).toMatchObject({ ADDRESS_KEY: NEW })
  await run('ADDRESS_KEY="$NEW" npm run db -- slots rebuild all', { variables })
  for (const { email } of [jun, mina]) expect(await service.logIn(email)).toMatchObject({ status: 200 })
  expect(await service.signUp('early@example.com')).toMatchObject({ status: 201 })
  expect(await service.signUp(mina.email)).toMatchObject({ status: 409 })
})

follow('operations.md', 'A lost slot or key', '', async ({ run }) => {
  account.within('library-eu', (database) => database.exec(`update slotMarks set mark = 'another'`))
  await service.stop()
  expect(await service.get('/health')).toMatchObject({ status: 503 })
  expect(await run('npm run deploy', { code: 1 })).toContain('slot 2: DB_2 is not the database that DB knows')
  for (const name of ['reading-library', 'library-eu'])
    account.within(name, (database) => database.exec('delete from slotMarks where slot = 2'))
  expect((await operator.run('npm run deploy')).output).toContain('Serving at')
  expect(await service.get('/health')).toMatchObject({ status: 200 })
})

/** Whether a token is accepted. */
const accepts = async (token: string) => (await service.get('/members/me', token)).status

follow('operations.md', 'Rotating JWT_SECRET', '', async ({ run }) => {
  const OLD = account.production.secrets?.JWT_SECRET ?? ''
  const NEW = (await run('openssl rand -base64 48')).trim()
  const variables = { NEW, OLD }
  const { authorization: old } = await service.logIn(mina.email)
  await run('echo "$NEW" | npx wrangler secret put JWT_SECRET_PREVIOUS', { variables })
  expect(await accepts(old)).toBe(200)
  await run('echo "{', { variables })
  const { authorization: current } = await service.logIn(mina.email)
  expect([await accepts(old), await accepts(current)]).toEqual([200, 200])
  await run('npx wrangler secret delete JWT_SECRET_PREVIOUS')
  expect([await accepts(old), await accepts(current)]).toEqual([401, 200])
})

follow('operations.md', 'Signing everyone out', '', async ({ run }) => {
  account.production.secrets = {
    ...account.production.secrets,
    JWT_SECRET_PREVIOUS: account.production.secrets?.JWT_SECRET ?? '',
  }
  const { authorization } = await service.logIn(mina.email)
  await run('openssl rand -base64 48 | npx wrangler secret put JWT_SECRET')
  await run('npx wrangler secret delete JWT_SECRET_PREVIOUS')
  expect(await accepts(authorization)).toBe(401)
  expect(await service.look(mina)).toEqual(WHOLE)
})

follow('operations.md', 'An abuse report arrived', '', async ({ run }) => {
  const sena = await service.addMember('sena@example.com')
  const { json: link } = await service.post('/links', { name: 'Shown', kind: 'MEMOS' }, sena.token)
  const { pathname } = new URL(link.url)
  const replaced = { '/l/SECRET': pathname, 'block ID': `block ${sena.memberId}` }
  expect(await run('PUBLIC_URL=https://library.example npm run members -- find', { replaced })).toContain(
    'shows all memos that are PUBLIC',
  )
  expect(await service.get(pathname)).toMatchObject({ status: 200 })
  await run('PUBLIC_URL=https://library.example npm run members -- take-down', { replaced })
  expect(await service.get(pathname)).toMatchObject({ status: 404 })
  expect(await run('npm run members -- log')).toContain(`report 12 ${sena.memberId}`)
  await operator.run(`npm run members -- take-down ${new URL(sena.image).pathname} --reason 'report 13' --local`)
  expect(await service.look(sena)).toEqual({ ...WHOLE, isImage: false })
  await run('npm run members -- block', { replaced })
  expect(await service.logIn(sena.email)).toMatchObject({ status: 403 })
})

follow('operations.md', 'A reader gets 429', '', async ({ run }) => {
  const guess = () => service.post('/login', { email: mina.email, password: 'wrong' })
  while ((await guess()).status !== 429);
  expect(await run('npm run members -- show')).toContain('"failed-login": "10 of 10 in 15 minutes"')
  await run('npm run members -- unlock')
  expect(await service.look(mina)).toEqual(WHOLE)
  await run('npm run members -- quota')
  expect((await operator.run('npm run members -- show mina@example.com --local')).output).toContain('"1 of 30,000"')
})

follow('operations.md', 'Members', '', async ({ run }) => {
  expect(await run('npm run members -- show')).toContain(`"memberId": ${mina.memberId}`)
  expect(await run('npm run members -- delete')).toContain('dry run')
  expect(await service.look(mina)).toEqual(WHOLE)
  await operator.run(`npm run members -- delete ${mina.memberId} --local`)
  expect(await service.logIn(mina.email)).toMatchObject({ status: 401 })
})

follow('operations.md', 'Settings with side effects', '', async ({ run }) => {
  const settings = join(folder, 'wrangler.toml')
  const route = 'routes = [{ pattern = "library.example.com", custom_domain = true }]'
  expect(readFileSync('docs/operations.md', 'utf8')).toContain(route)
  writeFileSync(settings, `${route}\n${readFileSync(settings, 'utf8')}`)
  account.state.targets = ['https://reading-library.mina.workers.dev', 'library.example.com (custom domain)']
  expect(await run('npm run deploy')).toContain('Serving at https://library.example.com')
  expect(account.production.config).toMatchObject({ routes: [{ pattern: 'library.example.com', custom_domain: true }] })
  await run('npx wrangler secret put PUBLIC_URL', { input: 'https://library.example.com' })
  const member = await service.addMember('new@example.com')
  expect(member.image).toMatch(/^https:..library\.example\.com/)
  // Memos contain old URLs.
  expect(await service.look(jun)).toMatchObject({ isImage: true })
})

it('runs every command of the documents, or says why not', () => {
  const texts = commands.map(({ text }: Command) => text)
  const left = NOT_RUN.map(([command]) => command)
  expect(left.filter((command) => !texts.includes(command) || executed.has(command))).toEqual([])
  const isRun = (text: string) => [...executed].some((each) => each === text || each.startsWith(`${text} `))
  expect(texts.filter((text) => !left.includes(text) && !isRun(text))).toEqual([])
})
