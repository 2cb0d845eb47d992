import { type Config, complaint, type Host, must, Stop } from './host.ts'

const LOG_IN = 'Not logged in: run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID'

type Account = { id: string; name: string }

/** Sees to it that wrangler is logged in, and knows which account is meant. */
export const findAccount = async (host: Host, config: Config) => {
  const outcome = await host.wrangler(['whoami', '--json'])
  if (/"loggedIn": ?false/.test(outcome.stdout)) throw new Stop(LOG_IN)
  if (outcome.code !== 0) throw new Stop(`wrangler whoami: ${complaint(outcome)}`)
  const { accounts = [] } = JSON.parse(outcome.stdout) as { accounts?: Account[] }
  const chosen = host.env.CLOUDFLARE_ACCOUNT_ID || config.account_id
  if (!chosen && accounts.length > 1) {
    const names = accounts.map(({ id, name }) => `  ${id} ${name}`)
    throw new Stop('Several accounts: set CLOUDFLARE_ACCOUNT_ID to one of', ...names)
  }
  const account = chosen ? accounts.find(({ id }) => id === chosen) : accounts[0]
  host.say(`Account: ${account?.name ?? chosen}`)
}

const hasDatabase = async (host: Host, name: string) => {
  const { stdout } = await must(host, ['d1', 'list', '--json'])
  return (JSON.parse(stdout) as { name: string }[]).some((database) => database.name === name)
}

const hasBucket = async (host: Host, name: string) => {
  // It has no JSON.
  const { stdout } = await must(host, ['r2', 'bucket', 'list'])
  return stdout.split('\n').some((line) => /^name: +(\S+)$/.exec(line)?.[1] === name)
}

const findNamespace = async (host: Host, title: string) => {
  const { stdout } = await must(host, ['kv', 'namespace', 'list'])
  return (JSON.parse(stdout) as { id: string; title: string }[]).find((namespace) => namespace.title === title)
}

/** What wrangler itself calls a resource that is given no name. */
export const titleOf = (config: Config, binding: string) => `${config.name}-${binding.toLowerCase()}`

/** Finds the database, the bucket and the namespace by name, and creates those that are not there. */
export const provide = async (host: Host, config: Config): Promise<Config> => {
  const report = (what: string, isFound: boolean) => host.say(`${what}: ${isFound ? 'found' : 'created'}`)
  for (const { database_name: name, database_id } of config.d1_databases) {
    const isFound = database_id !== undefined || (await hasDatabase(host, name))
    if (!isFound) await must(host, ['d1', 'create', name])
    report(`Database ${name}`, isFound)
  }
  for (const { bucket_name: name } of config.r2_buckets) {
    const isFound = await hasBucket(host, name)
    if (!isFound) await must(host, ['r2', 'bucket', 'create', name])
    report(`Bucket ${name}`, isFound)
  }
  const namespaces = []
  for (const namespace of config.kv_namespaces) {
    const title = titleOf(config, namespace.binding)
    const found = namespace.id ? { id: namespace.id } : await findNamespace(host, title)
    if (!found) await must(host, ['kv', 'namespace', 'create', title])
    report(`Namespace ${title}`, found !== undefined)
    const id = (found ?? (await findNamespace(host, title)))?.id
    if (!id) throw new Stop(`The namespace ${title} was created, but is not listed yet: run this again`)
    namespaces.push({ ...namespace, id })
  }
  // Wrangler finds the others by their names, but would create a namespace anew.
  return { ...config, kv_namespaces: namespaces }
}
