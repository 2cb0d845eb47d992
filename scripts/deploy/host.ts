/** How a run of wrangler ended: what it printed, and what it reported for machines. */
export type Outcome = { code: number; stdout: string; records: { type: string; [field: string]: unknown }[] }

/** What a deployment needs of the world around it. */
export type Host = {
  /** Runs wrangler, which finds nobody at the keyboard; `input` is what it reads instead. */
  wrangler: (args: string[], input?: string) => Promise<Outcome>
  /** Writes a file that is there for as long as the deployment runs, and for nobody else; answers its path. */
  write: (name: string, text: string) => string
  say: (line: string) => void
  /** Asks the person at the keyboard; absent where there is none. */
  ask?: (question: string) => Promise<string>
  fetch: (url: string) => Promise<{ ok: boolean }>
  wait: (ms: number) => Promise<unknown>
  env: Record<string, string | undefined>
}

/** The parts of wrangler.toml that a deployment looks at. */
export type Config = {
  name: string
  account_id?: string
  vars?: Record<string, unknown>
  d1_databases: { binding: string; database_name: string; database_id?: string }[]
  r2_buckets: { binding: string; bucket_name: string }[]
  kv_namespaces: { binding: string; id?: string }[]
}

/** Ends a deployment, with a line for each thing that is missing or went wrong. */
export class Stop extends Error {
  readonly lines: string[]
  constructor(...lines: string[]) {
    super(lines.join('\n'))
    this.lines = lines
  }
}

/** What wrangler says went wrong. */
export const complaint = ({ code, records }: Outcome) =>
  String(records.find(({ type }) => type === 'command-failed')?.message ?? `exit code ${code}`)

/** Runs wrangler; what fails ends the deployment. */
export const must = async (host: Host, args: string[], input?: string) => {
  const outcome = await host.wrangler(args, input)
  if (outcome.code !== 0) throw new Stop(`wrangler ${args.slice(0, 3).join(' ')}: ${complaint(outcome)}`)
  return outcome
}
