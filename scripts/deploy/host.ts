import type { Slot } from '../slots/table.ts'

/** The result of a wrangler command: its output, and the records it reports for machines. */
export type WranglerResult = { code: number; stdout: string; records: { type: string; [field: string]: unknown }[] }

/** Everything a deployment does outside its own code. Tests replace it. */
export type Host = {
  /**
   * Runs wrangler without a terminal; `input` becomes its stdin. `unset`: variables of the environment that it must not
   * see.
   */
  wrangler: (args: string[], input?: string, unset?: string[]) => Promise<WranglerResult>
  /** Writes a private file that is deleted when the deployment ends. Returns its path. */
  writeTemporary: (name: string, text: string) => string
  /** Adds the names of slots to slots.json. */
  writeNames: (slots: Slot[]) => void
  print: (line: string) => void
  /** Prompts the user; undefined without a terminal. */
  ask?: (question: string) => Promise<string>
  fetch: (url: string, headers?: Record<string, string>) => Promise<Pick<Response, 'ok' | 'json'>>
  wait: (ms: number) => Promise<unknown>
  env: Record<string, string | undefined>
}

export type WorkerConfig = { name: string; account_id?: string }

/** The parts of wrangler.toml that a deployment uses. */
export type Config = WorkerConfig & {
  route?: unknown
  routes?: unknown
  services?: { binding: string; service: string }[]
  ratelimits?: { namespace_id: string }[]
  vars?: Record<string, unknown>
  d1_databases: { binding: string; database_name: string; database_id?: string }[]
  r2_buckets: { binding: string; bucket_name: string }[]
  kv_namespaces: { binding: string; id?: string }[]
}

/** Ends a deployment, with one line per problem. */
export class DeployError extends Error {
  constructor(...lines: string[]) {
    super(lines.join('\n'))
  }
}

/** Of Cloudflare's API, whose message names only the path. */
const NO_WORKER = 10007

const failureOf = ({ records }: WranglerResult) => records.find(({ type }) => type === 'command-failed')

/** Whether a command failed because the Worker does not exist yet. */
export const hasNoWorker = (result: WranglerResult) => failureOf(result)?.code === NO_WORKER

/** Wrangler's own message about why a command failed. */
export const reasonOf = (result: WranglerResult) =>
  hasNoWorker(result)
    ? 'the Worker does not exist yet'
    : String(failureOf(result)?.message ?? `exit code ${result.code}`)

/** Runs a wrangler command. @throws DeployError with wrangler's message if it fails */
export const runWrangler = async (host: Host, args: string[], input?: string, unset?: string[]) => {
  const result = await host.wrangler(args, input, unset)
  const command = args.join(' ').replace(/ -.*/, '')
  if (result.code !== 0) throw new DeployError(`wrangler ${command}: ${reasonOf(result)}`)
  return result
}
