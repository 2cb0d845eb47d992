import { findAccount, provide, titleOf } from './account.ts'
import { type Config, type Host, must, Stop } from './host.ts'
import { gatherSettings, makeSecret, putSetting } from './settings.ts'

const HEALTH_TRIES = 12
const HEALTH_WAIT_MS = 5000

const migrate = async (host: Host, database: string) => {
  const { stdout } = await must(host, ['d1', 'migrations', 'apply', database, '--remote'])
  const applied = new Set([...stdout.matchAll(/│ (\S+\.sql) +│ ✅/g)].map(([, name]) => name))
  host.say(`Migrations: ${[...applied].join(', ') || 'nothing new'}`)
}

/** Where clients reach the Worker: its own domain, where it has one, else its address at workers.dev. */
const addressOf = (targets: string[]) => {
  const domain = targets.find((target) => target.includes(' (custom domain'))?.split(' ')[0]
  return domain ? `https://${domain}` : targets.find((target) => target.startsWith('https://'))
}

/** Uploads the Worker together with the settings that it lacks, so that it never serves without them. */
const upload = async (host: Host, config: Config, settings: Record<string, string>) => {
  const args = ['deploy', '--config', host.write('wrangler.deploy.json', JSON.stringify(config))]
  const names = Object.keys(settings)
  if (names.length > 0) {
    args.push('--secrets-file', host.write('wrangler.deploy.secrets.json', JSON.stringify(settings)))
  }
  const { records } = await must(host, args)
  const record = records.find(({ type }) => type === 'deploy')
  host.say(`Worker ${config.name}: uploaded${names.length > 0 ? ` with ${names.join(', ')}` : ''}`)
  return addressOf((record?.targets ?? []) as string[])
}

// A new address may take a while until it is known everywhere.
const awaitHealth = async (host: Host, url: string) => {
  for (let tries = 0; tries < HEALTH_TRIES; tries++) {
    const answer = await host.fetch(`${url}/health`).catch(() => undefined)
    if (answer?.ok) return
    await host.wait(HEALTH_WAIT_MS)
  }
  throw new Stop(`${url}/health does not answer 200: \`npx wrangler tail\` shows why`)
}

/**
 * Takes an account from nothing to serving; what is there already is left as it is.
 * @throws Stop, before anything is created, when something is missing; later, when a step fails
 */
export const deploy = async (host: Host, config: Config) => {
  await findAccount(host, config)
  const { settings, has } = await gatherSettings(host, config)
  const provided = await provide(host, config)
  for (const { binding } of config.d1_databases) await migrate(host, binding)

  const made: Record<string, string> = has('JWT_SECRET') ? {} : { JWT_SECRET: makeSecret() }
  const url = await upload(host, provided, { ...settings, ...made })
  // Nobody can read it again, and a rotation that signs nobody out needs it. The log of a CI is no place for it.
  if (made.JWT_SECRET && host.ask) host.say(`Keep this JWT_SECRET for its rotation: ${made.JWT_SECRET}`)
  if (!url) return host.say('Deployed. It has no address of its own: ask /health at the one of its route')
  if (!has('PUBLIC_URL')) {
    await putSetting(host, 'PUBLIC_URL', url)
    host.say(`PUBLIC_URL: ${url}`)
  }
  await awaitHealth(host, url)
  host.say(`Serving at ${url}`)
}

/** What `deploy` would do, a line each. */
export const plan = (config: Config) => [
  'Account: ask wrangler who is logged in',
  'Settings: look for JWT_SECRET, MAIL_FROM and PUBLIC_URL in [vars], secrets and the environment, ask for the others',
  ...config.d1_databases.map(({ database_name }) => `Database ${database_name}: find or create`),
  ...config.r2_buckets.map(({ bucket_name }) => `Bucket ${bucket_name}: find or create`),
  ...config.kv_namespaces.map(({ binding }) => `Namespace ${titleOf(config, binding)}: find or create`),
  ...config.d1_databases.map(({ binding }) => `Migrations: apply what ${binding} does not have yet`),
  `Worker ${config.name}: upload, together with the settings that it lacks`,
  'PUBLIC_URL: set to the address of the deployment, if there is none',
  'Health: ask until it answers',
]
