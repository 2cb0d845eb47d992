import { newMembersSetting, type Slot } from '../slots/table.ts'
import { type Config, DeployError, type Host, reasonOf, runWrangler } from './host.ts'

// Settings specific to an account are stored as secrets of the Worker: the repository is shared, and a deployment
// overwrites variables but keeps secrets.

type Setting = { name: string; description: string; isValid: (value: string) => boolean; whenEmpty?: string }

const MAIL_FROM: Setting = {
  name: 'MAIL_FROM',
  description: 'the sender address of mails, on a domain that is set up for sending',
  isValid: (value) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value),
}
const YES24_API_KEY: Setting = {
  name: 'YES24_API_KEY',
  description: 'the API key of the YES24 catalogue',
  isValid: Boolean,
}
const PUBLIC_URL: Setting = {
  name: 'PUBLIC_URL',
  description: 'the URL at which clients reach the service',
  isValid: (value) => /^https?:\/\/[^?#]+$/.test(value) && URL.canParse(value),
  whenEmpty: 'use the URL of the deployment',
}
const secretKey = (name: string, purpose: string): Setting => ({
  name,
  description: `at least 32 random bytes ${purpose}`,
  isValid: (value) => new TextEncoder().encode(value).length >= 32,
  whenEmpty: 'generate one',
})
const JWT_SECRET = secretKey('JWT_SECRET', 'to sign tokens with')
const ADDRESS_KEY = secretKey('ADDRESS_KEY', 'to hash the directory of e-mail addresses with')

/**
 * Secrets that are generated if missing, in a terminal, where someone can copy them. Only a directory of several
 * databases needs ADDRESS_KEY.
 */
const generatedSettings = (slots: Slot[]) => (slots.length > 1 ? [JWT_SECRET, ADDRESS_KEY] : [JWT_SECRET])
export const generatedSecrets = (slots: Slot[]) => generatedSettings(slots).map(({ name }) => name)

/** Lists the names of the Worker's secrets; none if the Worker does not exist yet. */
const listSecrets = async (host: Host, worker: string) => {
  const result = await host.wrangler(['secret', 'list'])
  if (result.code === 0) return (JSON.parse(result.stdout) as { name: string }[]).map(({ name }) => name)
  if (reasonOf(result).startsWith(`Worker "${worker}" not found`)) return []
  throw new DeployError(`wrangler secret list: ${reasonOf(result)}`)
}

/** Reads a setting from the environment, or prompts for it. */
const readSetting = async (host: Host, { name, description, isValid, whenEmpty = 'stop here' }: Setting) => {
  const value = host.env[name] || (await host.ask?.(`${name}, ${description} (press Enter to ${whenEmpty}): `))?.trim()
  if (value && !isValid(value)) throw new DeployError(`${name} is not valid: expected ${description}`)
  return value || undefined
}

/** The maximum size of a variable, in bytes. */
const MAX_VARIABLE = 5000

/** @throws DeployError if the settings contradict the table of slots */
const checkSlots = (slots: Slot[], vars: string[], secrets: string[]) => {
  if (slots.length === 1 && secrets.includes('ADDRESS_KEY')) {
    throw new DeployError(
      'slots.json lists no slot, but the Worker has ADDRESS_KEY: members of other slots could not log in',
    )
  }
  if ((newMembersSetting(slots)?.length ?? 0) > MAX_VARIABLE) {
    throw new DeployError('slots.json opens more slots than NEW_MEMBERS can list: close those that are half full')
  }
  if (slots.length > 1 && [...vars, ...secrets].includes('NEW_MEMBERS')) {
    throw new DeployError('NEW_MEMBERS follows from slots.json: remove it from [vars] and from the secrets')
  }
}

const describeMissing = ({ name, description }: Setting, isSecretKey: boolean) => {
  if (!isSecretKey) return `${name} is missing: ${description}`
  return `${name} is missing, and if it were generated here, nobody would have a copy: keep the output of \`openssl rand -base64 48\`, and set it as ${name} in the environment, on GitHub as a secret of the repository`
}

/** Collects the settings that the Worker lacks. `isSet` returns whether it has a setting once these are uploaded. */
export const collectSettings = async (host: Host, config: Config, slots: Slot[]) => {
  const vars = config.vars ?? {}
  const secrets = await listSecrets(host, config.name)
  checkSlots(slots, Object.keys(vars), secrets)
  const duplicates = secrets
    .filter((name) => name in vars)
    .map((name) => `${name} is in [vars] and a secret: run \`npx wrangler secret delete ${name}\``)
  if (duplicates.length > 0) throw new DeployError(...duplicates)
  const settings: Record<string, string> = {}
  const isSet = (name: string) => name in vars || name in settings || secrets.includes(name)

  const generated = generatedSettings(slots)
  const required = [
    ...(host.ask ? [] : generated),
    ...(vars.EMAIL_VERIFICATION === 'off' || secrets.includes('EMAIL_VERIFICATION') ? [] : [MAIL_FROM]),
    ...(vars.CATALOGUE_PROVIDER === 'yes24' ? [YES24_API_KEY] : []),
  ]
  for (const setting of new Set([...required, PUBLIC_URL, ...generated])) {
    if (isSet(setting.name)) continue
    const value = await readSetting(host, setting)
    if (value) settings[setting.name] = value
  }
  const missing = required.filter(({ name }) => !isSet(name))
  const lines = missing.map((setting) => describeMissing(setting, generated.includes(setting)))
  // Workers Builds sets secrets from its dashboard, possibly after this deployment, but none that it did not ask for.
  const isAllowed = host.env.WORKERS_CI && !missing.includes(ADDRESS_KEY)
  if (missing.length > 0 && !isAllowed) throw new DeployError(...lines)
  for (const line of lines) host.print(line)
  return { settings, isSet }
}

/** Generates a signing secret, like `openssl rand -base64 48`. */
export const generateSecret = () => btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(48))))

/** Sets a secret of the deployed Worker. */
export const putSecret = (host: Host, name: string, value: string) => runWrangler(host, ['secret', 'put', name], value)
