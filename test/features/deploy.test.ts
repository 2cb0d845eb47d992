import { describe, expect, it } from 'vitest'
import { deploy, plan } from '../../scripts/deploy/deploy.ts'
import type { Config, Host, Outcome } from '../../scripts/deploy/host.ts'

const CONFIG: Config = {
  name: 'reading-library',
  d1_databases: [{ binding: 'DB', database_name: 'reading-library' }],
  r2_buckets: [{ binding: 'IMAGES', bucket_name: 'reading-library-images' }],
  kv_namespaces: [{ binding: 'CATALOGUE' }],
}
const WORKER_URL = 'https://reading-library.mina.workers.dev'
const ADDRESS = 'library@example.com'

type Account = {
  databases: string[]
  buckets: string[]
  namespaces: string[]
  /** Undefined while there is no Worker. */
  secrets?: string[]
  accounts?: { id: string; name: string }[]
  pending?: string[]
  targets?: string[]
}

const NAMESPACE_ID = 'f'.repeat(32)
const nothing = (): Account => ({ databases: [], buckets: [], namespaces: [], pending: ['0000_library.sql'] })
const everything = (): Account => ({
  databases: ['another', 'reading-library'],
  buckets: ['another', 'reading-library-images'],
  namespaces: ['another', 'reading-library-catalogue'],
  secrets: ['JWT_SECRET', 'MAIL_FROM', 'PUBLIC_URL'],
})

const printed = (stdout: unknown): Outcome => ({
  code: 0,
  stdout: typeof stdout === 'string' ? stdout : JSON.stringify(stdout, null, 2),
  records: [],
})
const failed = (message: string, stdout = ''): Outcome => ({
  code: 1,
  stdout,
  records: [{ type: 'wrangler-session' }, { type: 'command-failed', message }],
})

/** A fake wrangler for an account. */
const wranglerOf =
  (account: Account, files: Record<string, string>, inputs: string[]): Host['wrangler'] =>
  async (args, input) => {
    if (input !== undefined) inputs.push(input)
    const [resource, verb, name = ''] = args[0] === 'r2' || args[0] === 'kv' ? [args[0], args[2], args[3]] : args
    switch (`${resource} ${verb}`) {
      case 'whoami --json':
        return printed({ loggedIn: true, accounts: account.accounts ?? [{ id: 'a', name: 'Mina' }] })
      case 'secret list':
        if (!account.secrets) return failed('Worker "reading-library" not found.\n\nIf this is a new Worker, …')
        return printed(account.secrets.map((each) => ({ name: each, type: 'secret_text' })))
      case 'secret put':
        account.secrets?.push(name)
        return printed(`✨ Success! Uploaded secret ${name}`)
      case 'd1 list':
        return printed(account.databases.map((each) => ({ uuid: '1', name: each, num_tables: 0 })))
      case 'd1 create':
        account.databases.push(name)
        return printed(`✅ Successfully created DB '${name}'`)
      case 'r2 list':
        return printed(['Listing buckets...', ...account.buckets.map((each) => `name:           ${each}`)].join('\n'))
      case 'r2 create':
        account.buckets.push(name)
        return printed(`✅ Created bucket '${name}'`)
      case 'kv list':
        return printed(account.namespaces.map((title) => ({ id: NAMESPACE_ID, title })))
      case 'kv create':
        account.namespaces.push(name)
        return printed('✨ Success!')
      case 'd1 migrations': {
        const applied = account.pending ?? []
        account.pending = []
        return printed(applied.map((each) => `│ ${each} │ ✅     │`).join('\n') || '✅ No migrations to apply!')
      }
      case 'deploy --config': {
        const secrets = args.includes('--secrets-file') ? JSON.parse(files[args.at(-1) ?? ''] ?? '{}') : {}
        account.secrets = [...(account.secrets ?? []), ...Object.keys(secrets)]
        const targets = account.targets ?? [WORKER_URL, 'schedule: 17 * * * *']
        return { ...printed('Uploaded'), records: [{ type: 'deploy', version_id: 'v', targets }] }
      }
      default:
        throw new Error(`The fake does not know wrangler ${args.join(' ')}`)
    }
  }

/** Deploys to an account. Returns what was run, written and said, and why it stopped, if it did. */
const deployTo = async (account: Account, changed: Partial<Host> = {}, config = CONFIG) => {
  const files: Record<string, string> = {}
  const inputs: string[] = []
  const ran: string[] = []
  const said: string[] = []
  const wrangler = wranglerOf(account, files, inputs)
  const host: Host = {
    wrangler: (args, input) => {
      ran.push(args.join(' '))
      return wrangler(args, input)
    },
    write: (name, text) => {
      files[name] = text
      return name
    },
    say: (line) => said.push(line),
    fetch: async (url) => ({ ok: url === `${WORKER_URL}/health` }),
    wait: async () => {},
    env: { MAIL_FROM: ADDRESS },
    ...changed,
  }
  const stopped = await deploy(host, config).then(
    () => undefined,
    (error) => error.lines as string[],
  )
  const changes = ran.filter((command) => !/ list| --json/.test(command))
  const secrets = JSON.parse(files['wrangler.deploy.secrets.json'] ?? '{}')
  return { files, inputs, ran, changes, said, stopped, secrets }
}

const MIGRATE = 'd1 migrations apply DB --remote'
const UPLOAD = 'deploy --config wrangler.deploy.json'
const WITH_SECRETS = `${UPLOAD} --secrets-file wrangler.deploy.secrets.json`

describe('a deployment', () => {
  it('creates everything in an empty account, and migrates before it uploads the Worker', async () => {
    const account = nothing()
    const { changes, said, files, secrets, inputs, stopped } = await deployTo(account)
    expect(stopped).toBeUndefined()
    expect(changes).toEqual([
      'd1 create reading-library',
      'r2 bucket create reading-library-images',
      'kv namespace create reading-library-catalogue',
      MIGRATE,
      WITH_SECRETS,
      'secret put PUBLIC_URL',
    ])
    expect(secrets).toEqual({ MAIL_FROM: ADDRESS, JWT_SECRET: expect.stringMatching(/^[\w+/]{64}$/) })
    expect(inputs).toEqual([WORKER_URL])
    expect(JSON.parse(files['wrangler.deploy.json'] ?? '')).toEqual({
      ...CONFIG,
      kv_namespaces: [{ binding: 'CATALOGUE', id: NAMESPACE_ID }],
    })
    expect(said).toContain('Migrations: 0000_library.sql')
    expect(said.at(-1)).toBe(`Serving at ${WORKER_URL}`)
    expect(said.join()).not.toContain(secrets.JWT_SECRET)
  })

  it('generates another secret for each account', async () => {
    const [one, other] = [await deployTo(nothing()), await deployTo(nothing())]
    expect(one.secrets.JWT_SECRET).not.toBe(other.secrets.JWT_SECRET)
  })

  it('creates nothing that exists, and keeps its secrets', async () => {
    const { changes, said } = await deployTo(everything(), { env: { JWT_SECRET: 'x'.repeat(32) } })
    expect(changes).toEqual([MIGRATE, UPLOAD])
    expect(said).toContain('Migrations: nothing new')
    expect(said.at(-1)).toBe(`Serving at ${WORKER_URL}`)
  })

  it('changes nothing when repeated', async () => {
    const account = nothing()
    await deployTo(account)
    expect((await deployTo(account, { env: {} })).changes).toEqual([MIGRATE, UPLOAD])
  })

  it('continues an unfinished deployment', async () => {
    const { changes, secrets } = await deployTo({ ...everything(), buckets: ['another'], secrets: ['MAIL_FROM'] })
    expect(changes).toEqual(['r2 bucket create reading-library-images', MIGRATE, WITH_SECRETS, 'secret put PUBLIC_URL'])
    expect(Object.keys(secrets)).toEqual(['JWT_SECRET'])
  })

  it('uses the resources and [vars] of wrangler.toml', async () => {
    const config = {
      ...CONFIG,
      vars: { PUBLIC_URL: 'https://library.example', EMAIL_VERIFICATION: 'off' },
      d1_databases: [{ binding: 'DB', database_name: 'mine', database_id: '1' }],
      kv_namespaces: [{ binding: 'CATALOGUE', id: 'mine' }],
    }
    const { changes, files } = await deployTo({ ...everything(), secrets: ['JWT_SECRET'] }, { env: {} }, config)
    expect(changes).toEqual([MIGRATE, UPLOAD])
    expect(JSON.parse(files['wrangler.deploy.json'] ?? '')).toEqual(config)
  })

  it('serves at its custom domain, if it has one', async () => {
    const account = { ...nothing(), targets: [WORKER_URL, 'library.example (custom domain)', 'schedule: 17 * * * *'] }
    const asked: string[] = []
    const fetch = async (url: string) => ({ ok: asked.push(url) > 2 })
    const { inputs, said } = await deployTo(account, { fetch })
    expect(inputs).toEqual(['https://library.example'])
    expect(asked).toEqual(Array(3).fill('https://library.example/health'))
    expect(said.at(-1)).toBe('Serving at https://library.example')
  })

  it('says that a Worker with routes only has no address', async () => {
    const { said, stopped } = await deployTo({ ...everything(), targets: ['example.com/library/*'] })
    expect([stopped, said.at(-1)]).toEqual([undefined, expect.stringMatching(/no address of its own/)])
  })

  it('asks for settings interactively, and shows the generated secret', async () => {
    const asked: string[] = []
    const ask = async (question: string) => {
      asked.push(question.split(',')[0] ?? '')
      return question.startsWith('MAIL_FROM') ? ` ${ADDRESS} ` : ''
    }
    const { secrets, said } = await deployTo(nothing(), { ask, env: {} })
    expect(asked).toEqual(['MAIL_FROM', 'PUBLIC_URL', 'JWT_SECRET'])
    expect(secrets.MAIL_FROM).toBe(ADDRESS)
    expect(said.join()).toContain(secrets.JWT_SECRET)
  })

  it('leaves settings to the dashboard in Workers Builds', async () => {
    const { stopped, said } = await deployTo(nothing(), { env: { WORKERS_CI: '1' } })
    expect(stopped).toBeUndefined()
    expect(said.join()).toMatch(/MAIL_FROM is missing/)
  })
})

describe('a deployment stops before it changes anything', () => {
  const several = [
    { id: 'a', name: 'Mina' },
    { id: 'b', name: 'Work' },
  ]
  const answering = (outcome: Outcome): Partial<Host> => ({ wrangler: async () => outcome })
  it.each<[why: string, account: Account, changed: Partial<Host>, vars: Record<string, string>, lines: RegExp[]]>([
    ['without a login', nothing(), answering(failed('…', '{"loggedIn":false}')), {}, [/npx wrangler login/]],
    ['without a network', nothing(), answering(failed('fetch failed')), {}, [/^wrangler whoami: fetch failed$/]],
    ['between accounts', { ...nothing(), accounts: several }, {}, {}, [/CLOUDFLARE_ACCOUNT_ID/, /a Mina/, /b Work/]],
    ['without a sender', nothing(), { env: {} }, {}, [/^MAIL_FROM is missing/]],
    [
      'without the key of the catalogue',
      everything(),
      { env: {} },
      { CATALOGUE_PROVIDER: 'yes24' },
      [/^YES24_API_KEY is missing/],
    ],
    ['with a weak secret', nothing(), { env: { MAIL_FROM: ADDRESS, JWT_SECRET: 'short' } }, {}, [/^JWT_SECRET is not/]],
    ['with an odd address', nothing(), { env: { MAIL_FROM: 'library' } }, {}, [/^MAIL_FROM is not/]],
    ['with an odd URL', nothing(), { env: { MAIL_FROM: ADDRESS, PUBLIC_URL: 'library' } }, {}, [/^PUBLIC_URL is not/]],
    ['with a setting in two places', everything(), {}, { MAIL_FROM: ADDRESS }, [/wrangler secret delete MAIL_FROM/]],
  ])('%s', async (_, account, changed, vars, lines) => {
    const { stopped, changes } = await deployTo(account, changed, { ...CONFIG, vars })
    expect(stopped).toHaveLength(lines.length)
    for (const [at, line] of lines.entries()) expect(stopped?.[at]).toMatch(line)
    expect(changes).toEqual([])
  })
})

describe('a failed deployment', () => {
  const failingAt = (command: string, account: Account): Partial<Host> => {
    const wrangler = wranglerOf(account, {}, [])
    return {
      wrangler: async (args, input) =>
        args.join(' ').startsWith(command) ? failed('Please enable R2 [code: 10042]') : wrangler(args, input),
    }
  }
  it.each([
    'secret list',
    'd1 list',
    'd1 create',
    'r2 bucket list',
    'r2 bucket create',
    'kv namespace create',
    'd1 migr',
  ])('at wrangler %s reports its error and uploads nothing', async (command) => {
    const account = nothing()
    const { stopped } = await deployTo(account, failingAt(command, account))
    expect(stopped).toEqual([expect.stringMatching(/^wrangler .*: Please enable R2 \[code: 10042\]$/)])
    expect(account.secrets).toBeUndefined()
  })

  it('reports a Worker that does not become healthy', async () => {
    let asked = 0
    const fetch = async () => {
      asked++
      throw new TypeError('not there yet')
    }
    expect((await deployTo(everything(), { fetch })).stopped).toEqual([
      expect.stringMatching(/\/health does not answer/),
    ])
    expect(asked).toBe(12)
  })
})

it('a dry run names every step', () => {
  const steps = plan(CONFIG).join('\n')
  for (const word of [
    'Account',
    'Settings',
    'Database',
    'Bucket',
    'Namespace',
    'Migrations',
    'Worker',
    'PUBLIC_URL',
    'Health',
  ]) {
    expect(steps).toMatch(new RegExp(`^${word}`, 'm'))
  }
})
