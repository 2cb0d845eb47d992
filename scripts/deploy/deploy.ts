import { checkAccount, namespaceTitle, provision } from './account.ts'
import { type Config, DeployError, type Host, runWrangler } from './host.ts'
import { collectSettings, generateSecret, putSecret } from './settings.ts'

const HEALTH_ATTEMPTS = 12
const HEALTH_DELAY_MS = 5000

const migrate = async (host: Host, database: string) => {
  const { stdout } = await runWrangler(host, ['d1', 'migrations', 'apply', database, '--remote'])
  const applied = new Set([...stdout.matchAll(/│ (\S+\.sql) +│ ✅/g)].map(([, name]) => name))
  host.print(`Migrations: ${[...applied].join(', ') || 'nothing new'}`)
}

/** The URL of the Worker: its custom domain if it has one, otherwise its workers.dev address. */
const findUrl = (targets: string[]) => {
  const domain = targets.find((target) => target.includes(' (custom domain'))?.split(' ')[0]
  return domain ? `https://${domain}` : targets.find((target) => target.startsWith('https://'))
}

/** Uploads the Worker together with its missing settings, so that it never serves without them. */
const upload = async (host: Host, config: Config, settings: Record<string, string>) => {
  const args = ['deploy', '--config', host.writeTemporary('wrangler.deploy.json', JSON.stringify(config))]
  const names = Object.keys(settings)
  if (names.length > 0) {
    args.push('--secrets-file', host.writeTemporary('wrangler.deploy.secrets.json', JSON.stringify(settings)))
  }
  const { records } = await runWrangler(host, args)
  const deployment = records.find(({ type }) => type === 'deploy')
  host.print(`Worker ${config.name}: uploaded${names.length > 0 ? ` with ${names.join(', ')}` : ''}`)
  return findUrl((deployment?.targets ?? []) as string[])
}

/** Polls /health: a new address can take a while to resolve everywhere. */
const waitUntilHealthy = async (host: Host, url: string) => {
  for (let attempt = 0; attempt < HEALTH_ATTEMPTS; attempt++) {
    const response = await host.fetch(`${url}/health`).catch(() => undefined)
    if (response?.ok) return
    await host.wait(HEALTH_DELAY_MS)
  }
  throw new DeployError(`${url}/health does not answer 200: \`npx wrangler tail\` shows why`)
}

/**
 * Deploys to an empty account or updates an existing deployment. Existing resources and settings are not changed.
 * @throws DeployError before anything is created if something is missing, later if a step fails
 */
export const deploy = async (host: Host, config: Config) => {
  await checkAccount(host, config)
  const { settings, isSet } = await collectSettings(host, config)
  const provisioned = await provision(host, config)
  for (const { binding } of config.d1_databases) await migrate(host, binding)

  const generated: Record<string, string> = isSet('JWT_SECRET') ? {} : { JWT_SECRET: generateSecret() }
  const url = await upload(host, provisioned, { ...settings, ...generated })
  // Secrets cannot be read back, and rotating without signing everyone out needs the old one. Keep it out of CI logs.
  if (generated.JWT_SECRET && host.ask) host.print(`Keep this JWT_SECRET, to rotate it later: ${generated.JWT_SECRET}`)
  if (!url) return host.print('Deployed. The Worker has routes only and no URL: check /health at your route')
  if (!isSet('PUBLIC_URL')) {
    await putSecret(host, 'PUBLIC_URL', url)
    host.print(`PUBLIC_URL: ${url}`)
  }
  await waitUntilHealthy(host, url)
  host.print(`Serving at ${url}`)
}

/** Describes the steps of `deploy`, one line each. */
export const plan = (config: Config) => [
  'Account: check that wrangler is logged in',
  'Settings: look for JWT_SECRET, MAIL_FROM and PUBLIC_URL in [vars], secrets and the environment; ask for the others',
  ...config.d1_databases.map(({ database_name }) => `Database ${database_name}: find or create`),
  ...config.r2_buckets.map(({ bucket_name }) => `Bucket ${bucket_name}: find or create`),
  ...config.kv_namespaces.map(({ binding }) => `Namespace ${namespaceTitle(config, binding)}: find or create`),
  ...config.d1_databases.map(({ binding }) => `Migrations: apply new ones to ${binding}`),
  `Worker ${config.name}: upload with its missing settings`,
  'PUBLIC_URL: set to the URL of the deployment if missing',
  'Health: wait until /health answers 200',
]
