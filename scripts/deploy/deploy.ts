import { bindSlots, newMembersSetting, placeOf, type Slot } from '../slots/table.ts'
import { checkAccount, namespaceTitle, provision } from './account.ts'
import { migrate, provisionDatabases } from './databases.ts'
import { BUILD_NAMES, writeConfig } from './environment.ts'
import { type Config, DeployError, type Host, runWrangler, type WorkerConfig } from './host.ts'
import { checkMarks } from './marks.ts'
import { findOnlyVersion, findUrl, readShares, requireHealthy, rollOut } from './rollout.ts'
import { collectSettings, generatedSecrets, generateSecret, putSecret } from './settings.ts'

const checkReader = ({ services }: Config, { name }: WorkerConfig) => {
  const called = services?.find(({ binding }) => binding === 'READER')?.service
  if (called !== name)
    throw new DeployError(`wrangler.toml binds READER to ${called}, but the name in wrangler.reader.toml is ${name}`)
}

/** Uploads the Worker that reads files. The service, which is bound to it, can be uploaded only afterwards. */
const uploadReader = async (host: Host, { account_id }: Config, reader: WorkerConfig) => {
  const config = JSON.stringify({ ...reader, ...(account_id && { account_id }) })
  const args = ['deploy', '--config', host.writeTemporary('wrangler.deploy.reader.json', config)]
  await runWrangler(host, args, undefined, BUILD_NAMES)
  host.print(`Worker ${reader.name}: uploaded`)
}

/** Uploads the Worker together with its missing settings, so that it never serves without them. */
const upload = async (host: Host, command: string[], config: Config, settings: Record<string, string>) => {
  const args = [...command, ...writeConfig(host, config)]
  const names = Object.keys(settings)
  if (names.length > 0) {
    args.push('--secrets-file', host.writeTemporary('wrangler.deploy.secrets.json', JSON.stringify(settings)))
  }
  const { records } = await runWrangler(host, args)
  host.print(`Worker ${config.name}: uploaded${names.length > 0 ? ` with ${names.join(', ')}` : ''}`)
  return (type: string) => records.find((record) => record.type === type)
}

/**
 * Deploys to an empty account or updates an existing deployment. Existing resources and settings are not changed. If
 * the new version is not healthy, the versions before get their requests again.
 * @param percentage the share of the requests for the new version, in a gradual deployment
 * @throws DeployError before anything is created if something is missing, later if a step fails
 */
export const deploy = async (host: Host, config: Config, reader: WorkerConfig, slots: Slot[], percentage?: number) => {
  checkReader(config, reader)
  await checkAccount(host, config)
  const before = percentage && (await findOnlyVersion(host))
  const shares = before ? undefined : await readShares(host)
  const { settings, isSet } = await collectSettings(host, config, slots)
  if (before && !isSet('PUBLIC_URL')) throw new DeployError('PUBLIC_URL is missing: deploy without --percentage first')
  const databases = await provisionDatabases(host, bindSlots(config, slots), slots)
  const provisioned = await provision(host, databases)
  // With one database, wrangler.toml names it.
  const configPath = slots.length > 1 ? writeConfig(host, provisioned) : []
  await migrate(host, databases, configPath)

  const missing = generatedSecrets(slots).filter((name) => !isSet(name))
  const generated = host.ask ? Object.fromEntries(missing.map((name) => [name, generateSecret()])) : {}
  const key = { addressKey: settings.ADDRESS_KEY, isGenerated: 'ADDRESS_KEY' in generated }
  const confirmMarks = await checkMarks(host, slots, configPath, key)
  await uploadReader(host, config, reader)
  // Before the upload, which may take effect and then fail: secrets cannot be read back, and are needed to rotate them.
  for (const [name, value] of Object.entries(generated))
    host.print(`Keep this ${name}, to rotate it later, unless the upload does not succeed: ${value}`)
  if (before) {
    const uploaded = await upload(host, ['versions', 'upload'], provisioned, { ...settings, ...generated })
    await confirmMarks()
    return rollOut(host, config, before, String(uploaded('version-upload')?.version_id), percentage)
  }
  const uploaded = await upload(host, ['deploy'], provisioned, { ...settings, ...generated })
  const url = findUrl((uploaded('deploy')?.targets ?? []) as string[])
  await confirmMarks()
  if (!url) return host.print('Deployed. The Worker has routes only and no URL: check /health at your route')
  if (!isSet('PUBLIC_URL')) {
    await putSecret(host, 'PUBLIC_URL', url)
    host.print(`PUBLIC_URL: ${url}`)
  }
  if (!host.ask && missing.length > 0) return host.print(`Deployed. Every request gets 500 until ${missing} is set`)
  // A secret that is set later makes another version.
  const version = isSet('PUBLIC_URL') ? (uploaded('deploy')?.version_id as string | null) : null
  await requireHealthy(host, url, config.name, version, shares)
  host.print(`Serving at ${url}`)
}

/** Describes the steps of `deploy`, one line each. */
export const plan = (config: Config, reader: WorkerConfig, slots: Slot[]) => {
  const { d1_databases, r2_buckets, kv_namespaces, name } = bindSlots(config, slots)
  const newMembers = newMembersSetting(slots)
  const wanted = [...generatedSecrets(slots), 'MAIL_FROM'].join(', ')
  const describe = ({ binding, database_name }: Config['d1_databases'][number]) => {
    const slot = slots.find((each) => each.binding === binding)
    const place = slot && placeOf(slot)
    return `Database ${database_name}: find or create${place ? ` in ${place}` : ''}`
  }
  return [
    'Account: check that wrangler is logged in',
    `Settings: look for ${wanted} and PUBLIC_URL in [vars], secrets and the environment; ask for the others`,
    ...d1_databases.map(describe),
    ...r2_buckets.map(({ bucket_name }) => `Bucket ${bucket_name}: find or create`),
    ...kv_namespaces.map(({ binding }) => `Namespace ${namespaceTitle(config, binding)}: find or create`),
    ...config.d1_databases.map(({ binding }) => `Migrations: apply new ones to ${binding}`),
    ...(newMembers ? [`Migrations: apply new ones to the ${slots.length - 1} other slots, six at a time`] : []),
    'Slots: check that every database is the one of its slot, and that the directory has the ADDRESS_KEY',
    ...(newMembers ? [`NEW_MEMBERS: set to ${newMembers}`] : []),
    `Worker ${reader.name}: upload`,
    `Worker ${name}: upload with its missing settings`,
    'PUBLIC_URL: set to the URL of the deployment if missing',
    'Health: wait until /health answers 200; if it does not, the version before gets all requests again',
  ]
}
