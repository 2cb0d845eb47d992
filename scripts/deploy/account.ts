import { type Config, DeployError, type Host, reasonOf, runWrangler } from './host.ts'

const LOG_IN = 'Not logged in: run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID'

type Account = { id: string; name: string }

/** Checks that wrangler is logged in and that it is clear which account to deploy to. */
export const checkAccount = async (host: Host, config: Config) => {
  const result = await host.wrangler(['whoami', '--json'])
  if (/"loggedIn": ?false/.test(result.stdout)) throw new DeployError(LOG_IN)
  if (result.code !== 0) throw new DeployError(`wrangler whoami: ${reasonOf(result)}`)
  const { accounts = [] } = JSON.parse(result.stdout) as { accounts?: Account[] }
  const chosen = host.env.CLOUDFLARE_ACCOUNT_ID || config.account_id
  if (!chosen && accounts.length > 1) {
    const names = accounts.map(({ id, name }) => `  ${id} ${name}`)
    throw new DeployError('Several accounts: set CLOUDFLARE_ACCOUNT_ID to one of', ...names)
  }
  const account = chosen ? accounts.find(({ id }) => id === chosen) : accounts[0]
  host.print(`Account: ${account?.name ?? chosen}`)
}

const hasBucket = async (host: Host, name: string) => {
  // This command has no JSON output.
  const { stdout } = await runWrangler(host, ['r2', 'bucket', 'list'])
  return stdout.split('\n').some((line) => /^name: +(\S+)$/.exec(line)?.[1] === name)
}

const findNamespace = async (host: Host, title: string) => {
  const { stdout } = await runWrangler(host, ['kv', 'namespace', 'list'])
  return (JSON.parse(stdout) as { id: string; title: string }[]).find((namespace) => namespace.title === title)?.id
}

/** The title of a KV namespace, by wrangler's convention for unnamed resources. */
export const namespaceTitle = (config: Config, binding: string) => `${config.name}-${binding.toLowerCase()}`

const createUnless = async (exists: boolean, host: Host, resource: string, args: string[]) => {
  if (!exists) await runWrangler(host, args)
  host.print(`${resource}: ${exists ? 'found' : 'created'}`)
}

/** Finds the bucket and the namespace by name and creates those that do not exist. */
export const provision = async (host: Host, config: Config): Promise<Config> => {
  for (const { bucket_name: name } of config.r2_buckets) {
    await createUnless(await hasBucket(host, name), host, `Bucket ${name}`, ['r2', 'bucket', 'create', name])
  }
  const namespaces = []
  for (const namespace of config.kv_namespaces) {
    const title = namespaceTitle(config, namespace.binding)
    const existing = namespace.id || (await findNamespace(host, title))
    await createUnless(Boolean(existing), host, `Namespace ${title}`, ['kv', 'namespace', 'create', title])
    const id = existing || (await findNamespace(host, title))
    if (!id) throw new DeployError(`The namespace ${title} was created but is not listed yet: run this again`)
    namespaces.push({ ...namespace, id })
  }
  // Without an id wrangler would create the namespace again; it finds the other resources by name.
  return { ...config, kv_namespaces: namespaces }
}
