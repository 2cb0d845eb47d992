import { describe, expect, it, vi } from 'vitest'
import { plan } from '../../../scripts/deploy/deploy.ts'
import type { Host, WranglerResult } from '../../../scripts/deploy/host.ts'
import { parseSlots } from '../../../scripts/slots/table.ts'
import readerConfig from '../../../wrangler.reader.toml?raw'
import serviceConfig from '../../../wrangler.toml?raw'
import {
  type Account,
  CONFIG,
  deployedAccount,
  deployTo,
  emptyAccount,
  failure,
  fakeWrangler,
  healthOf,
  MAIL_FROM,
  MINA,
  NAMESPACE_ID,
  READER,
  SETTINGS,
  UPLOAD_READER,
  WORKER_URL,
} from '../../support/deploy/fake-account'

const MIGRATE = 'd1 migrations apply DB --remote'
const UPLOAD = 'deploy --config wrangler.deploy.json'
const UPLOAD_WITH_SECRETS = `${UPLOAD} --secrets-file wrangler.deploy.secrets.json`
const CREATE_BUCKET = 'r2 bucket create reading-library-images'
const PUT_URL = 'secret put PUBLIC_URL'

describe('deploy', () => {
  it('provisions an empty account and migrates before it uploads the Worker', async () => {
    const { changes, output, deployed, secrets, inputs, errors } = await deployTo(emptyAccount())
    const created = ['d1 create reading-library', CREATE_BUCKET, 'kv namespace create reading-library-catalogue']
    expect(changes).toEqual([...created, MIGRATE, UPLOAD_READER, UPLOAD_WITH_SECRETS, PUT_URL])
    expect(secrets).toEqual({ MAIL_FROM, JWT_SECRET: SETTINGS.JWT_SECRET })
    expect([errors, inputs]).toEqual([undefined, [WORKER_URL]])
    expect(deployed).toEqual({ ...CONFIG, kv_namespaces: [{ binding: 'CATALOGUE', id: NAMESPACE_ID }] })
    expect(output).toContain('Migrations: 0000_library.sql')
    expect(output.at(-1)).toBe(`Serving at ${WORKER_URL}`)
    expect(output.join()).not.toContain(secrets.JWT_SECRET)
  })

  it('generates a different JWT_SECRET for each account', async () => {
    const atTerminal = { ask: async () => '', env: { MAIL_FROM } }
    const [first, second] = [await deployTo(emptyAccount(), atTerminal), await deployTo(emptyAccount(), atTerminal)]
    expect(first.secrets.JWT_SECRET).toMatch(/^[\w+/]{64}$/)
    expect(first.secrets.JWT_SECRET).not.toBe(second.secrets.JWT_SECRET)
  })

  it('keeps existing resources and secrets', async () => {
    const { changes, output } = await deployTo(deployedAccount(), { env: { JWT_SECRET: 'x'.repeat(32) } })
    expect(changes).toEqual([MIGRATE, UPLOAD_READER, UPLOAD])
    expect(output).toContain('Migrations: nothing new')
    expect(output.at(-1)).toBe(`Serving at ${WORKER_URL}`)
  })

  it('is idempotent', async () => {
    const account = emptyAccount()
    await deployTo(account)
    expect((await deployTo(account, { env: {} })).changes).toEqual([MIGRATE, UPLOAD_READER, UPLOAD])
  })

  it('completes an interrupted deployment', async () => {
    const account = { ...deployedAccount(), buckets: ['another'], secrets: ['MAIL_FROM'] }
    const { changes, secrets } = await deployTo(account)
    expect(changes).toEqual([CREATE_BUCKET, MIGRATE, UPLOAD_READER, UPLOAD_WITH_SECRETS, PUT_URL])
    expect(Object.keys(secrets)).toEqual(['JWT_SECRET'])
  })

  it('uses the identifiers and [vars] of wrangler.toml', async () => {
    const config = {
      ...CONFIG,
      vars: { PUBLIC_URL: 'https://library.example', EMAIL_VERIFICATION: 'off' },
      d1_databases: [{ binding: 'DB', database_name: 'mine', database_id: '1' }],
      kv_namespaces: [{ binding: 'CATALOGUE', id: 'mine' }],
    }
    const account = { ...deployedAccount(), secrets: ['JWT_SECRET'] }
    const { changes, deployed } = await deployTo(account, { env: {} }, config)
    expect(changes).toEqual([MIGRATE, UPLOAD_READER, UPLOAD])
    expect(deployed).toEqual(config)
  })

  it('uploads both Workers to the account of wrangler.toml', async () => {
    const { files } = await deployTo(deployedAccount(), {}, { ...CONFIG, account_id: MINA.id })
    expect(JSON.parse(files['wrangler.deploy.reader.json'] ?? '{}')).toEqual({ ...READER, account_id: MINA.id })
  })

  it('uploads the reader under its own name on Workers Builds', async () => {
    const { unsets } = await deployTo(deployedAccount(), { env: { WORKERS_CI: '1' } })
    expect(unsets).toEqual({ [UPLOAD_READER]: ['WRANGLER_CI_OVERRIDE_NAME', 'WRANGLER_CI_MATCH_TAG'] })
  })

  it('prefers a custom domain and polls /health until it answers', async () => {
    const targets = [WORKER_URL, 'library.example (custom domain)', 'schedule: 17 * * * *']
    const polled: string[] = []
    const fetch = async (url: string) => Response.json({}, { status: polled.push(url) > 2 ? 200 : 503 })
    const { inputs, output } = await deployTo({ ...emptyAccount(), targets }, { fetch })
    expect(inputs).toEqual(['https://library.example'])
    expect(polled).toEqual(Array(3).fill('https://library.example/health'))
    expect(output.at(-1)).toBe('Serving at https://library.example')
  })

  it('reports that a Worker with routes only has no URL', async () => {
    const { output, errors } = await deployTo({ ...deployedAccount(), targets: ['example.com/library/*'] })
    expect([errors, output.at(-1)]).toEqual([undefined, expect.stringMatching(/has routes only and no URL/)])
  })

  it('prompts for missing settings and prints the generated secret', async () => {
    const ask = vi.fn(async (question: string) => (question.startsWith('MAIL_FROM') ? ` ${MAIL_FROM} ` : ''))
    const { secrets, output } = await deployTo(emptyAccount(), { ask, env: {} })
    const asked = ask.mock.calls.map(([question]) => question.split(',')[0])
    expect(asked).toEqual(['MAIL_FROM', 'PUBLIC_URL', 'JWT_SECRET'])
    expect(secrets.MAIL_FROM).toBe(MAIL_FROM)
    expect(output.join()).toContain(secrets.JWT_SECRET)
  })

  it('prints the generated secret of an upload that takes effect and then fails', async () => {
    const account = emptyAccount()
    const files: Record<string, string> = {}
    const run = fakeWrangler(account, files)
    const wrangler = async (args: string[]) => {
      const result = await run(args)
      const isUpload = args[0] === 'deploy' && args.includes('wrangler.deploy.json')
      return isUpload ? failure('Trigger configuration for "reading-library" was only partially updated') : result
    }
    const writeTemporary = (name: string, text: string) => {
      files[name] = text
      return name
    }
    const overrides = { ask: async () => '', env: { MAIL_FROM }, wrangler, writeTemporary }
    const { output, errors } = await deployTo(account, overrides)
    expect([account.secrets, errors]).toEqual([
      ['MAIL_FROM', 'JWT_SECRET'],
      ['wrangler deploy: Trigger configuration for "reading-library" was only partially updated'],
    ])
    expect(output.join()).toContain(JSON.parse(files['wrangler.deploy.secrets.json'] ?? '').JWT_SECRET)
  })

  it('only warns about missing settings on Workers Builds, and generates none', async () => {
    const fetch = vi.fn()
    const { errors, output, secrets } = await deployTo(emptyAccount(), { env: { WORKERS_CI: '1' }, fetch })
    expect([errors, secrets]).toEqual([undefined, {}])
    expect(output.join()).toMatch(/JWT_SECRET is missing, .+MAIL_FROM is missing/)
    expect(output.at(-1)).toBe('Deployed. Every request gets 500 until JWT_SECRET is set')
    expect(fetch).not.toHaveBeenCalled()
  })
})

describe('deploy fails without changing anything', () => {
  const accounts = [MINA, { id: 'b', name: 'Work' }]
  const always = (result: WranglerResult) => ({ wrangler: async () => result })
  const withEnv = (env: Host['env']) => ({ env })
  const { JWT_SECRET } = SETTINGS
  type Case = [problem: string, account: Account, overrides: Partial<Host>, vars: object, lines: RegExp[]]
  it.each<Case>([
    ['without a login', emptyAccount(), always(failure('…', '{"loggedIn":false}')), {}, [/npx wrangler login/]],
    ['without a network', emptyAccount(), always(failure('fetch failed')), {}, [/^wrangler whoami: fetch failed$/]],
    ['with several accounts', { ...emptyAccount(), accounts }, {}, {}, [/CLOUDFLARE_ACCOUNT_ID/, /a Mina/, /b Work/]],
    ['without a sender', emptyAccount(), withEnv({ JWT_SECRET }), {}, [/^MAIL_FROM is missing/]],
    [
      'without a secret',
      emptyAccount(),
      withEnv({ MAIL_FROM }),
      {},
      [/^JWT_SECRET is missing, .+`openssl rand -base64 48`/],
    ],
    ['without a key', deployedAccount(), withEnv({}), { CATALOGUE_PROVIDER: 'yes24' }, [/^YES24_API_KEY is missing/]],
    ['with a weak secret', emptyAccount(), withEnv({ MAIL_FROM, JWT_SECRET: 'short' }), {}, [/^JWT_SECRET is not/]],
    [
      'with an invalid sender',
      emptyAccount(),
      withEnv({ JWT_SECRET, MAIL_FROM: 'library' }),
      {},
      [/^MAIL_FROM is not/],
    ],
    [
      'with an invalid URL',
      emptyAccount(),
      withEnv({ ...SETTINGS, PUBLIC_URL: 'library' }),
      {},
      [/^PUBLIC_URL is not/],
    ],
    ['with a setting set twice', deployedAccount(), {}, { MAIL_FROM }, [/wrangler secret delete MAIL_FROM/]],
  ])('%s', async (_, account, overrides, vars, lines) => {
    const { errors, changes } = await deployTo(account, overrides, { ...CONFIG, vars: { ...vars } })
    expect(errors).toEqual(lines.map((line) => expect.stringMatching(line)))
    expect(changes).toEqual([])
  })
})

it('deploy fails without changing anything if READER is bound to another Worker', async () => {
  const services = [{ binding: 'READER', service: 'another' }]
  const { errors, changes } = await deployTo(emptyAccount(), {}, { ...CONFIG, services })
  expect(errors).toEqual([
    'wrangler.toml binds READER to another, but the name in wrangler.reader.toml is reading-library-reader',
  ])
  expect(changes).toEqual([])
})

const COMMANDS =
  'deployments status,secret list,d1 list,d1 create,r2 bucket list,r2 bucket create,kv namespace create,d1 migr,deploy'
it.each(COMMANDS.split(','))('deploy passes on the error of wrangler %s and uploads nothing', async (command) => {
  const account = emptyAccount()
  const succeed = fakeWrangler(account)
  const wrangler = async (args: string[]) =>
    args.join(' ').startsWith(command) ? failure('Please enable R2 [code: 10042]') : succeed(args)
  const { errors } = await deployTo(account, { wrangler })
  expect(errors).toEqual([expect.stringMatching(/^wrangler .*: Please enable R2 \[code: 10042\]$/)])
  expect(account.secrets).toBeUndefined()
})

describe('a deployed version that is not healthy', () => {
  const problem = `Version v does not answer 200 at ${WORKER_URL}/health`

  it.each([
    ['the version before', { old: 100 }, 'all requests go to version old again'],
    ['both versions of a gradual deployment', { older: 90, old: 10 }, 'all requests go to version older and old again'],
  ])('gives %s the requests again', async (_, shares, outcome) => {
    const account: Account = { ...deployedAccount(), versions: Object.keys(shares), shares }
    const fetch = vi.fn(healthOf(account, ['v']))
    const { errors, changes } = await deployTo(account, { fetch })
    expect([errors, account.shares]).toEqual([[`${problem}: ${outcome}`], shares])
    expect(changes.at(-1)).toMatch(/^versions deploy old/)
    expect(fetch).toHaveBeenCalledTimes(12)
  })

  it('is not taken for the version before, which still answers', async () => {
    const account: Account = { ...deployedAccount(), versions: ['old'], shares: { old: 100 } }
    const { errors } = await deployTo(account, { fetch: async () => Response.json({ version: 'old' }) })
    expect([errors, account.shares]).toEqual([[expect.stringContaining(problem)], { old: 100 }])
  })

  it.each([
    ['no Worker', {}],
    ['a Worker that was never deployed', { wrangler: failure('The Worker reading-library has no deployments.') }],
  ])('is left if there was %s before', async (_, { wrangler: status }: { wrangler?: WranglerResult }) => {
    const account = emptyAccount()
    const succeed = fakeWrangler(account)
    const wrangler = async (args: string[]) => (status && args[0] === 'deployments' ? status : succeed(args))
    const fetch = vi.fn().mockRejectedValue(new TypeError('not there yet'))
    const { errors } = await deployTo(account, { fetch, wrangler })
    expect(errors).toEqual([expect.stringMatching(/^Version uploaded does not answer .+wrangler tail/)])
    expect(account.shares).toEqual({ v: 100 })
  })
})

it.each([
  ['service', serviceConfig, 15],
  ['reader of files', readerConfig, 10],
])('the %s may use less CPU time than the default of 30 seconds', (_, config, seconds) => {
  expect(config).toContain(`\n[limits]\ncpu_ms = ${seconds}_000\n`)
})

it('a dry run lists every step', () => {
  const steps = plan(CONFIG, READER, parseSlots([], 'reading-library')).map((step) => step.split(/[: ]/)[0])
  expect(steps.join(' ')).toBe(
    'Account Settings Database Bucket Namespace Migrations Slots Worker Worker PUBLIC_URL Health',
  )
})

it('only the deployed version can be reached', () => {
  // With workers_dev, preview URLs are on unless they are turned off.
  for (const config of [serviceConfig, readerConfig]) expect(config).toMatch(/^preview_urls = false$/m)
})
