import { describe, expect, it, vi } from 'vitest'
import { deploy, plan } from '../../scripts/deploy/deploy.ts'
import type { Config, Host, WranglerResult } from '../../scripts/deploy/host.ts'

const CONFIG: Config = {
  name: 'reading-library',
  d1_databases: [{ binding: 'DB', database_name: 'reading-library' }],
  r2_buckets: [{ binding: 'IMAGES', bucket_name: 'reading-library-images' }],
  kv_namespaces: [{ binding: 'CATALOGUE' }],
}
const WORKER_URL = 'https://reading-library.mina.workers.dev'
const MAIL_FROM = 'library@example.com'
const NAMESPACE_ID = 'f'.repeat(32)
const MINA = { id: 'a', name: 'Mina' }

/** The state of a fake Cloudflare account. */
type Account = Record<'databases' | 'buckets' | 'namespaces' | 'pending', string[]> & {
  /** Undefined while there is no Worker. */
  secrets?: string[]
  accounts?: { id: string; name: string }[]
  targets?: string[]
}

const emptyAccount = (): Account => ({ databases: [], buckets: [], namespaces: [], pending: ['0000_library.sql'] })
const deployedAccount = (): Account => ({
  databases: ['another', 'reading-library'],
  buckets: ['another', 'reading-library-images'],
  namespaces: ['another', 'reading-library-catalogue'],
  pending: [],
  secrets: ['JWT_SECRET', 'MAIL_FROM', 'PUBLIC_URL'],
})

const success = (output: unknown, records: WranglerResult['records'] = []): WranglerResult => ({
  code: 0,
  stdout: typeof output === 'string' ? output : JSON.stringify(output, null, 2),
  records,
})
const failure = (message: string, stdout = ''): WranglerResult => ({
  code: 1,
  stdout,
  records: [{ type: 'wrangler-session' }, { type: 'command-failed', message }],
})

/** A fake wrangler that reads and changes the account. */
const fakeWrangler =
  (account: Account, files: Record<string, string> = {}) =>
  async (args: string[]) => {
    const [group, verb, name = ''] = args[0] === 'r2' || args[0] === 'kv' ? [args[0], args[2], args[3]] : args
    const create = (list: string[]) => {
      list.push(name)
      return success(`✅ Created '${name}'`)
    }
    switch (`${group} ${verb}`) {
      case 'whoami --json':
        return success({ loggedIn: true, accounts: account.accounts ?? [MINA] })
      case 'secret list':
        if (!account.secrets) return failure('Worker "reading-library" not found.\n\nIf this is a new Worker, …')
        return success(account.secrets.map((each) => ({ name: each, type: 'secret_text' })))
      case 'secret put':
        return create(account.secrets ?? [])
      case 'd1 list':
        return success(account.databases.map((each) => ({ uuid: '1', name: each, num_tables: 0 })))
      case 'd1 create':
        return create(account.databases)
      case 'r2 list':
        return success(['Listing buckets...', ...account.buckets.map((each) => `name:           ${each}`)].join('\n'))
      case 'r2 create':
        return create(account.buckets)
      case 'kv list':
        return success(account.namespaces.map((title) => ({ id: NAMESPACE_ID, title })))
      case 'kv create':
        return create(account.namespaces)
      case 'd1 migrations': {
        const applied = account.pending.splice(0).map((each) => `│ ${each} │ ✅     │`)
        return success(applied.join('\n') || '✅ No migrations to apply!')
      }
      case 'deploy --config': {
        const secrets = args.includes('--secrets-file') ? JSON.parse(files[args.at(-1) ?? ''] ?? '{}') : {}
        account.secrets = [...(account.secrets ?? []), ...Object.keys(secrets)]
        const targets = account.targets ?? [WORKER_URL, 'schedule: 17 * * * *']
        return success('Uploaded', [{ type: 'deploy', version_id: 'v', targets }])
      }
      default:
        throw new Error(`Unexpected command: wrangler ${args.join(' ')}`)
    }
  }

/** Deploys to an account and records commands, inputs, files, output and the lines of a DeployError. */
const deployTo = async (account: Account, overrides: Partial<Host> = {}, config = CONFIG) => {
  const files: Record<string, string> = {}
  const inputs: string[] = []
  const commands: string[] = []
  const output: string[] = []
  const wrangler = fakeWrangler(account, files)
  const host: Host = {
    wrangler: (args, input) => {
      commands.push(args.join(' '))
      if (input !== undefined) inputs.push(input)
      return wrangler(args)
    },
    writeTemporary: (name, text) => {
      files[name] = text
      return name
    },
    print: (line) => void output.push(line),
    fetch: async (url) => ({ ok: url === `${WORKER_URL}/health` }),
    wait: async () => {},
    env: { MAIL_FROM },
    ...overrides,
  }
  const errors = await deploy(host, config).catch((error): string[] => error.message.split('\n'))
  const changes = commands.filter((command) => !/ list| --json/.test(command))
  const { 'wrangler.deploy.json': deployed = '{}', 'wrangler.deploy.secrets.json': secrets = '{}' } = files
  return { deployed: JSON.parse(deployed), secrets: JSON.parse(secrets), inputs, changes, output, errors }
}

const MIGRATE = 'd1 migrations apply DB --remote'
const UPLOAD = 'deploy --config wrangler.deploy.json'
const UPLOAD_WITH_SECRETS = `${UPLOAD} --secrets-file wrangler.deploy.secrets.json`
const CREATE_BUCKET = 'r2 bucket create reading-library-images'
const PUT_URL = 'secret put PUBLIC_URL'

describe('deploy', () => {
  it('provisions an empty account and migrates before it uploads the Worker', async () => {
    const { changes, output, deployed, secrets, inputs, errors } = await deployTo(emptyAccount())
    const created = ['d1 create reading-library', CREATE_BUCKET, 'kv namespace create reading-library-catalogue']
    expect(changes).toEqual([...created, MIGRATE, UPLOAD_WITH_SECRETS, PUT_URL])
    expect(secrets).toEqual({ MAIL_FROM, JWT_SECRET: expect.stringMatching(/^[\w+/]{64}$/) })
    expect([errors, inputs]).toEqual([undefined, [WORKER_URL]])
    expect(deployed).toEqual({ ...CONFIG, kv_namespaces: [{ binding: 'CATALOGUE', id: NAMESPACE_ID }] })
    expect(output).toContain('Migrations: 0000_library.sql')
    expect(output.at(-1)).toBe(`Serving at ${WORKER_URL}`)
    expect(output.join()).not.toContain(secrets.JWT_SECRET)
  })

  it('generates a different JWT_SECRET for each account', async () => {
    const [first, second] = [await deployTo(emptyAccount()), await deployTo(emptyAccount())]
    expect(first.secrets.JWT_SECRET).not.toBe(second.secrets.JWT_SECRET)
  })

  it('keeps existing resources and secrets', async () => {
    const { changes, output } = await deployTo(deployedAccount(), { env: { JWT_SECRET: 'x'.repeat(32) } })
    expect(changes).toEqual([MIGRATE, UPLOAD])
    expect(output).toContain('Migrations: nothing new')
    expect(output.at(-1)).toBe(`Serving at ${WORKER_URL}`)
  })

  it('is idempotent', async () => {
    const account = emptyAccount()
    await deployTo(account)
    expect((await deployTo(account, { env: {} })).changes).toEqual([MIGRATE, UPLOAD])
  })

  it('completes an interrupted deployment', async () => {
    const account = { ...deployedAccount(), buckets: ['another'], secrets: ['MAIL_FROM'] }
    const { changes, secrets } = await deployTo(account)
    expect(changes).toEqual([CREATE_BUCKET, MIGRATE, UPLOAD_WITH_SECRETS, PUT_URL])
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
    expect(changes).toEqual([MIGRATE, UPLOAD])
    expect(deployed).toEqual(config)
  })

  it('prefers a custom domain and polls /health until it answers', async () => {
    const targets = [WORKER_URL, 'library.example (custom domain)', 'schedule: 17 * * * *']
    const polled: string[] = []
    const fetch = async (url: string) => ({ ok: polled.push(url) > 2 })
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

  it('only warns about missing settings on Workers Builds', async () => {
    const { errors, output } = await deployTo(emptyAccount(), { env: { WORKERS_CI: '1' } })
    expect([errors, output.join()]).toEqual([undefined, expect.stringMatching(/MAIL_FROM is missing/)])
  })
})

describe('deploy fails without changing anything', () => {
  const accounts = [MINA, { id: 'b', name: 'Work' }]
  const always = (result: WranglerResult) => ({ wrangler: async () => result })
  const withEnv = (env: Host['env']) => ({ env })
  type Case = [problem: string, account: Account, overrides: Partial<Host>, vars: object, lines: RegExp[]]
  it.each<Case>([
    ['without a login', emptyAccount(), always(failure('…', '{"loggedIn":false}')), {}, [/npx wrangler login/]],
    ['without a network', emptyAccount(), always(failure('fetch failed')), {}, [/^wrangler whoami: fetch failed$/]],
    ['with several accounts', { ...emptyAccount(), accounts }, {}, {}, [/CLOUDFLARE_ACCOUNT_ID/, /a Mina/, /b Work/]],
    ['without a sender', emptyAccount(), withEnv({}), {}, [/^MAIL_FROM is missing/]],
    ['without a key', deployedAccount(), withEnv({}), { CATALOGUE_PROVIDER: 'yes24' }, [/^YES24_API_KEY is missing/]],
    ['with a weak secret', emptyAccount(), withEnv({ MAIL_FROM, JWT_SECRET: 'short' }), {}, [/^JWT_SECRET is not/]],
    ['with an invalid sender', emptyAccount(), withEnv({ MAIL_FROM: 'library' }), {}, [/^MAIL_FROM is not/]],
    ['with an invalid URL', emptyAccount(), withEnv({ MAIL_FROM, PUBLIC_URL: 'library' }), {}, [/^PUBLIC_URL is not/]],
    ['with a setting set twice', deployedAccount(), {}, { MAIL_FROM }, [/wrangler secret delete MAIL_FROM/]],
  ])('%s', async (_, account, overrides, vars, lines) => {
    const { errors, changes } = await deployTo(account, overrides, { ...CONFIG, vars: { ...vars } })
    expect(errors).toEqual(lines.map((line) => expect.stringMatching(line)))
    expect(changes).toEqual([])
  })
})

const COMMANDS = 'secret list,d1 list,d1 create,r2 bucket list,r2 bucket create,kv namespace create,d1 migr'
it.each(COMMANDS.split(','))('deploy passes on the error of wrangler %s and uploads nothing', async (command) => {
  const account = emptyAccount()
  const succeed = fakeWrangler(account)
  const wrangler = async (args: string[]) =>
    args.join(' ').startsWith(command) ? failure('Please enable R2 [code: 10042]') : succeed(args)
  const { errors } = await deployTo(account, { wrangler })
  expect(errors).toEqual([expect.stringMatching(/^wrangler .*: Please enable R2 \[code: 10042\]$/)])
  expect(account.secrets).toBeUndefined()
})

it('deploy fails if the Worker does not become healthy', async () => {
  const fetch = vi.fn().mockRejectedValue(new TypeError('not there yet'))
  expect((await deployTo(deployedAccount(), { fetch })).errors).toEqual([expect.stringMatching(/\/health does not/)])
  expect(fetch).toHaveBeenCalledTimes(12)
})

it('a dry run lists every step', () => {
  const steps = plan(CONFIG).map((step) => step.split(/[: ]/)[0])
  expect(steps.join(' ')).toBe('Account Settings Database Bucket Namespace Migrations Worker PUBLIC_URL Health')
})
