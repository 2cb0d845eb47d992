import { type Config, DeployError, type Host, hasNoWorker, reasonOf, runWrangler } from './host.ts'

// A gradual deployment: two versions of the Worker share the requests, `before` and the later `candidate`.

const HEALTH_ATTEMPTS = 12
const HEALTH_DELAY_MS = 5000

/** The URL of the Worker: its custom domain if it has one, otherwise its workers.dev address. */
export const findUrl = (targets: string[]) => {
  const domain = targets.find((target) => target.includes(' (custom domain'))?.split(' ')[0]
  return domain ? `https://${domain}` : targets.find((target) => target.startsWith('https://'))
}

/**
 * Polls /health: a new address, or version, can take a while to be known everywhere.
 * @param version the version that has to respond, of this Worker. Without one, any may.
 */
const isHealthy = async (host: Host, url: string, worker: string, version?: string | null) => {
  const headers = version ? { 'Cloudflare-Workers-Version-Overrides': `${worker}="${version}"` } : undefined
  for (let attempt = 0; attempt < HEALTH_ATTEMPTS; attempt++) {
    const response = await host.fetch(`${url}/health`, headers).catch(() => undefined)
    const health = response?.ok ? await response.json().catch(() => undefined) : undefined
    if (health && (!version || (health as { version?: string }).version === version)) return true
    await host.wait(HEALTH_DELAY_MS)
  }
  return false
}

type Share = { version_id: string; percentage: number }
const STATUS = ['deployments', 'status', '--json']
const toShares = (stdout: string) => (JSON.parse(stdout) as { versions: Share[] }).versions

/** The versions that have requests now, with their shares. Undefined if the Worker was not deployed yet. */
export const readShares = async (host: Host) => {
  const result = await host.wrangler(STATUS)
  if (result.code === 0) return toShares(result.stdout)
  if (hasNoWorker(result) || reasonOf(result).endsWith('has no deployments.')) return undefined
  throw new DeployError(`wrangler deployments status: ${reasonOf(result)}`)
}

/** The versions that have requests now: the earlier one first. */
const readVersions = async (host: Host) => {
  const ids = toShares((await runWrangler(host, STATUS)).stdout).map(({ version_id }) => version_id)
  if (ids.length === 1) return ids
  // The ten latest, the last one last.
  const listed = JSON.parse((await runWrangler(host, ['versions', 'list', '--json'])).stdout) as { id: string }[]
  const positionOf = (version: string) => listed.findIndex(({ id }) => id === version)
  return ids.sort((a, b) => positionOf(a) - positionOf(b))
}

/** @throws DeployError unless one version has all requests */
export const findOnlyVersion = async (host: Host) => {
  const [version, other] = await readVersions(host)
  if (!version || other) throw new DeployError('A gradual deployment is under way: end it with --promote or --rollback')
  return version
}

const findBoth = async (host: Host) => {
  const [before, candidate] = await readVersions(host)
  if (before && candidate) return { before, candidate }
  throw new DeployError('No gradual deployment is under way: see "Rolling back" in docs/operations.md')
}

const deployVersions = (host: Host, ...shares: string[]) =>
  runWrangler(host, ['versions', 'deploy', ...shares, '--yes'])

/**
 * Checks /health of what was uploaded.
 * @param version the one that has to respond, if known
 * @param before the versions that get their shares of the requests again if it fails. Undefined: there are none
 * @throws DeployError if it fails
 */
export const requireHealthy = async (
  host: Host,
  url: string,
  worker: string,
  version: string | null,
  before: Share[] | undefined,
) => {
  if (await isHealthy(host, url, worker, version)) return
  const problem = `Version ${version ?? 'uploaded'} does not answer 200 at ${url}/health`
  if (!before) throw new DeployError(`${problem}: \`npx wrangler tail\` shows why`)
  await deployVersions(host, ...before.map(({ version_id, percentage }) => `${version_id}@${percentage}%`))
  const names = before.map(({ version_id }) => version_id).join(' and ')
  throw new DeployError(`${problem}: all requests go to version ${names} again`)
}

/** Checks /health of the later version. If it fails, the earlier one gets all requests again. */
const checkCandidate = async (
  host: Host,
  worker: string,
  { before, candidate }: Awaited<ReturnType<typeof findBoth>>,
) => {
  // Routes and cron triggers belong to no version. The output has the addresses of the Worker.
  const { stdout } = await runWrangler(host, ['triggers', 'deploy'])
  const url = findUrl(stdout.split('\n').map((line) => line.trim()))
  if (url && (await isHealthy(host, url, worker, candidate))) return
  await deployVersions(host, `${before}@100%`)
  const problem = url ? `does not answer 200 at ${url}/health` : 'cannot be checked, as the Worker has no URL'
  throw new DeployError(`Version ${candidate} ${problem}: version ${before} has all requests again`)
}

/** Gives the later version this share of the requests, in percent, if it is healthy. */
export const promote = async (host: Host, { name }: Config, percentage = 100) => {
  const { before, candidate } = await findBoth(host)
  await checkCandidate(host, name, { before, candidate })
  const rest = percentage < 100 ? [`${before}@${100 - percentage}%`] : []
  await deployVersions(host, `${candidate}@${percentage}%`, ...rest)
  host.print(`Version ${candidate}: has ${percentage} % of the requests`)
  if (percentage < 100) host.print('End this with `npm run deploy -- --promote`, or --rollback')
}

/** Begins a gradual deployment. The candidate has no share until it is healthy. */
export const rollOut = async (host: Host, config: Config, before: string, candidate: string, percentage: number) => {
  await deployVersions(host, `${candidate}@0%`, `${before}@100%`)
  await promote(host, config, percentage)
}

/** Gives the earlier version all requests. */
export const rollBack = async (host: Host) => {
  const { before } = await findBoth(host)
  await deployVersions(host, `${before}@100%`)
  host.print(`Version ${before}: has all requests`)
}
