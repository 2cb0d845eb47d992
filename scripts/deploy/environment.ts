import { crc32 } from 'node:zlib'
import { formatConfig, type Slot } from '../slots/table.ts'
import { type Config, DeployError, type Host, type WorkerConfig } from './host.ts'

/**
 * With these, Workers Builds has wrangler upload every Worker as the one of the build, whatever its configuration says.
 */
export const BUILD_NAMES = ['WRANGLER_CI_OVERRIDE_NAME', 'WRANGLER_CI_MATCH_TAG']

/** `production` would be taken for the deployment without an environment. */
const isName = (environment: string) => /^(?!production$)[a-z][a-z\d]{0,19}$/.test(environment)

/**
 * The configurations of another deployment in the same account: each resource is its own, named after the environment.
 * Identifiers, routes and URLs are left out: they are those of production.
 * @throws DeployError if the name of the environment is not valid
 */
export const toEnvironment = (config: Config, reader: WorkerConfig, environment: string) => {
  if (!isName(environment)) throw new DeployError('--env must be a name like staging: up to 20 letters and digits')
  const rename = (name: string) => `${name}-${environment}`
  const { route: _, routes: __, vars: { PUBLIC_URL, IMAGE_BASE_URL, ...vars } = {}, ...rest } = config
  return {
    config: {
      ...rest,
      name: rename(config.name),
      vars,
      d1_databases: config.d1_databases.map(({ database_id, database_name, ...database }) => {
        return { ...database, database_name: rename(database_name) }
      }),
      r2_buckets: config.r2_buckets.map((bucket) => ({ ...bucket, bucket_name: rename(bucket.bucket_name) })),
      kv_namespaces: config.kv_namespaces.map(({ id, ...namespace }) => namespace),
      services: config.services?.map((service) => ({ ...service, service: rename(service.service) })),
      // Workers of an account that name the same namespace share its counters.
      ratelimits: config.ratelimits?.map((limit) => {
        return { ...limit, namespace_id: String(crc32(`${environment} ${limit.namespace_id}`) >>> 1) }
      }),
    } satisfies Config,
    reader: { ...reader, name: rename(reader.name) },
  }
}

/**
 * Migrations run before the marks are checked, so a copy of production's table would migrate production.
 * @throws DeployError if a slot of the environment has the database of one in production
 */
export const requireOwnDatabases = (slots: Slot[], production: Slot[], table: string) => {
  const names = production.map(({ name }) => name)
  const lines = slots
    .filter(({ name }) => names.includes(name))
    .map(({ slot, name }) => `${table}: slot ${slot}: ${name} is a database of production: remove the name`)
  if (lines.length > 0) throw new DeployError(...lines)
}

/** Writes a configuration, and returns the flag for it. */
export const writeConfig = (host: Host, config: Config) => [
  '--config',
  host.writeTemporary('wrangler.deploy.json', formatConfig(config)),
]

/** Account-wide commands, which need no configuration. With one, they may offer to change it. */
const ACCOUNT_WIDE = /^(?:whoami|r2|kv|d1 (?:list|create))\b/

/** The host, on which wrangler reads this configuration instead of wrangler.toml. */
export const withConfig = (host: Host, config: Config): Host => {
  const path = writeConfig(host, config)
  return {
    ...host,
    wrangler: (args, input) => {
      const isComplete = args.includes('--config') || ACCOUNT_WIDE.test(args.join(' '))
      return host.wrangler(isComplete ? args : [...args, ...path], input, BUILD_NAMES)
    },
  }
}
