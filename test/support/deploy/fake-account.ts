import { OCCUPIED } from '../../../scripts/deploy/databases.ts'
import { deploy } from '../../../scripts/deploy/deploy.ts'
import type { Config, Host, WranglerResult } from '../../../scripts/deploy/host.ts'
import { formatTable, parseSlots } from '../../../scripts/slots/table.ts'
import type { Mark } from '../../../src/slots/marks'

export const CONFIG: Config = {
  name: 'reading-library',
  d1_databases: [{ binding: 'DB', database_name: 'reading-library' }],
  r2_buckets: [{ binding: 'IMAGES', bucket_name: 'reading-library-images' }],
  kv_namespaces: [{ binding: 'CATALOGUE' }],
  services: [{ binding: 'READER', service: 'reading-library-reader' }],
}
export const READER = { name: 'reading-library-reader' }
export const UPLOAD_READER = 'deploy --config wrangler.deploy.reader.json'
export const WORKER_URL = 'https://reading-library.mina.workers.dev'
export const MAIL_FROM = 'library@example.com'
/** What a deployment without a terminal needs. */
export const SETTINGS = {
  MAIL_FROM,
  JWT_SECRET: 'a secret of which there is a copy, to sign tokens',
  ADDRESS_KEY: 'a key of which there is a copy, for the directory',
}
export const NAMESPACE_ID = 'f'.repeat(32)
export const MINA = { id: 'a', name: 'Mina' }

/** The state of a fake Cloudflare account. */
export type Account = Record<'databases' | 'buckets' | 'namespaces' | 'pending', string[]> & {
  /** Undefined while there is no Worker. */
  secrets?: string[]
  accounts?: { id: string; name: string }[]
  /** Bindings of databases without pending migrations. */
  migrated?: string[]
  /** By database. */
  jurisdictions?: Record<string, string>
  targets?: string[]
  /** The versions of the Worker, in the order of their upload, and the shares that they have of the requests, in percent. */
  versions?: string[]
  shares?: Record<string, number>
  /** By database. */
  marks?: Record<string, Map<number, Mark>>
  hasEntries?: boolean
  /** The slots that have members. Undefined before the migration that creates the directory. */
  occupied?: number[]
}

/** A row of slots.json. */
export type Row = { slot: number; [key: string]: unknown }

export const emptyAccount = (): Account => ({
  databases: [],
  buckets: [],
  namespaces: [],
  pending: ['0000_library.sql'],
})
export const deployedAccount = (): Account => ({
  databases: ['another', 'reading-library'],
  buckets: ['another', 'reading-library-images'],
  namespaces: ['another', 'reading-library-catalogue'],
  pending: [],
  secrets: ['JWT_SECRET', 'MAIL_FROM', 'PUBLIC_URL'],
})

export const success = (output: unknown, records: WranglerResult['records'] = []): WranglerResult => ({
  code: 0,
  stdout: typeof output === 'string' ? output : JSON.stringify(output, null, 2),
  records,
})
/** `code`: of an error of Cloudflare's API. */
export const failure = (message: string, stdout = '', code?: number): WranglerResult => ({
  code: 1,
  stdout,
  records: [{ type: 'wrangler-session' }, { type: 'command-failed', message, code }],
})

/** Stands in for the SQL of scripts/slots/marks.ts. slots-lost.test.ts runs it. */
const executeOnMarks = (marks: Map<number, Mark>, sql: string, hasEntries = false) => {
  if (sql.startsWith('select slot')) return [...marks.values()]
  if (sql.startsWith('select')) return [{ check: marks.get(0)?.mark ?? null, hasEntries }]
  const confirmed = /^update .* in \(([\d,]+)\)$/.exec(sql)?.[1]?.split(',').map(Number) ?? []
  for (const slot of confirmed) marks.set(slot, { slot, mark: marks.get(slot)?.mark ?? '', isConfirmed: 1 })
  const inserted = [...sql.matchAll(/\((\d+), '([^']+)'/g)].map(([, slot, mark = '']) => ({ slot: Number(slot), mark }))
  for (const { slot, mark } of inserted) if (!marks.has(slot)) marks.set(slot, { slot, mark, isConfirmed: 0 })
  return inserted.map(({ slot }) => marks.get(slot))
}

/** A fake wrangler that reads and changes the account. */
export const fakeWrangler =
  (account: Account, files: Record<string, string> = {}) =>
  async (args: string[]) => {
    const [group, verb, name = ''] = ['r2', 'kv'].includes(args[0] ?? '') ? [args[0], args[2], args[3]] : args
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
        return success(
          account.databases.map((each, index) => {
            return { uuid: `id-${index}`, name: each, jurisdiction: account.jurisdictions?.[each] ?? null }
          }),
        )
      case 'd1 create':
        if (args[3] === '--jurisdiction') account.jurisdictions = { ...account.jurisdictions, [name]: args[4] ?? '' }
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
        const database = args[3] ?? ''
        const pending = account.migrated?.includes(database) ? [] : account.pending
        account.migrated = [...(account.migrated ?? []), database]
        return success(pending.map((each) => `│ ${each} │ ✅     │`).join('\n') || '✅ No migrations to apply!')
      }
      case 'd1 execute': {
        const sql = args[args.indexOf('--command') + 1] ?? ''
        if (sql === OCCUPIED) {
          if (!account.occupied) return failure('no such table: addresses: SQLITE_ERROR')
          return success([{ results: account.occupied.map((number) => ({ number })), success: true }])
        }
        const { d1_databases }: Config = JSON.parse(files['wrangler.deploy.json'] ?? JSON.stringify(CONFIG))
        const database = d1_databases.find(({ binding }) => binding === name)?.database_name ?? name
        account.marks ??= {}
        account.marks[database] ??= new Map()
        return success([{ results: executeOnMarks(account.marks[database], sql, account.hasEntries) }])
      }
      case 'deploy --config': {
        if (name === 'wrangler.deploy.reader.json') return success('Uploaded')
        const secrets = args.includes('--secrets-file') ? JSON.parse(files[args.at(-1) ?? ''] ?? '{}') : {}
        account.secrets = [...(account.secrets ?? []), ...Object.keys(secrets)]
        const targets = account.targets ?? [WORKER_URL, 'schedule: 17 * * * *']
        account.versions = [...(account.versions ?? []), 'v']
        account.shares = { v: 100 }
        return success('Uploaded', [{ type: 'deploy', version: 1, version_id: 'v', targets }])
      }
      case 'versions upload': {
        account.versions?.push('new')
        return success('Uploaded', [{ type: 'version-upload', version: 1, version_id: 'new', preview_url: undefined }])
      }
      case 'versions list':
        return success(
          (account.versions ?? []).map((id, index) => {
            return {
              id,
              number: index + 1,
              metadata: { created_on: `2026-11-2${index}T09:30:00.000Z`, source: 'wrangler' },
            }
          }),
        )
      case 'versions deploy':
        account.shares = Object.fromEntries(
          args.slice(2, -1).map((each) => [each.split('@')[0], Number.parseInt(each.split('@')[1] ?? '', 10)]),
        )
        return success('Deployed', [{ type: 'version-deploy', version: 1, deployment_id: 'd', version_traffic: {} }])
      case 'deployments status':
        if (!account.shares) return failure('A request to the Cloudflare API (/accounts/a/…) failed.', '', 10007)
        return success({
          id: 'd',
          source: 'wrangler',
          strategy: 'percentage',
          created_on: '2026-11-21T09:30:00.000Z',
          // The API sorts them by share.
          versions: Object.entries(account.shares)
            .map(([version_id, percentage]) => ({ version_id, percentage }))
            .sort((a, b) => b.percentage - a.percentage),
        })
      case 'triggers deploy': {
        const targets = account.targets ?? [WORKER_URL, 'schedule: 17 * * * *']
        return success(
          ['Deployed reading-library triggers (0.42 sec)', ...targets.map((each) => `  ${each}`)].join('\n'),
        )
      }
      default:
        throw new Error(`Unexpected command: wrangler ${args.join(' ')}`)
    }
  }

/** /health of a Worker, all of whose versions in use are healthy, but for those listed. */
export const healthOf =
  (account: Account, unhealthy: string[] = []): Host['fetch'] =>
  async (url, headers = {}) => {
    const [, version = 'v'] = /="(.+)"$/.exec(headers['Cloudflare-Workers-Version-Overrides'] ?? '') ?? []
    if (url !== `${WORKER_URL}/health` || unhealthy.includes(version)) return new Response(null, { status: 503 })
    const isUsed = account.shares?.[version] !== undefined
    return Response.json({ status: 'ok', version: isUsed ? version : (account.versions?.[0] ?? 'v') })
  }

/** Works on an account, and records commands, inputs, files, output and the lines of a DeployError. */
export const workOn = async (
  account: Account,
  work: (host: Host) => Promise<void>,
  overrides: Partial<Host> = {},
  table: Row[] = [],
) => {
  const files: Record<string, string> = {}
  const inputs: string[] = []
  const commands: string[] = []
  /** By command. */
  const unsets: Record<string, string[]> = {}
  const output: string[] = []
  const wrangler = fakeWrangler(account, files)
  const host: Host = {
    wrangler: (args, input, unset) => {
      commands.push(args.join(' '))
      if (unset) unsets[args.join(' ')] = unset
      if (input !== undefined) inputs.push(input)
      return wrangler(args)
    },
    writeTemporary: (name, text) => {
      files[name] = text
      return name
    },
    writeNames: (slots) => {
      files['slots.json'] = formatTable(table, slots)
    },
    print: (line) => void output.push(line),
    fetch: healthOf(account),
    wait: async () => {},
    env: SETTINGS,
    ...overrides,
  }
  const errors = await work(host).catch((error): string[] => error.message.split('\n'))
  const changes = commands.filter((command) => !/ list| --json/.test(command))
  const { 'wrangler.deploy.json': deployed = '{}', 'wrangler.deploy.secrets.json': secrets = '{}' } = files
  return {
    files,
    deployed: JSON.parse(deployed),
    secrets: JSON.parse(secrets),
    inputs,
    commands,
    changes,
    unsets,
    output,
    errors,
  }
}

/** Deploys to an account. */
export const deployTo = async (account: Account, overrides: Partial<Host> = {}, config = CONFIG, table: Row[] = []) => {
  const slots = parseSlots(table, config.d1_databases[0]?.database_name ?? '')
  return workOn(account, (host) => deploy(host, config, READER, slots), overrides, table)
}
