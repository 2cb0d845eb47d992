import { type Config, complaint, type Host, must, Stop } from './host.ts'

// What the account tells the service is kept as secrets of the Worker: the repository is everybody's, and a
// deployment leaves secrets as they are.

type Setting = { name: string; what: string; isValid: (value: string) => boolean; whenEmpty: string }

const MAIL_FROM: Setting = {
  name: 'MAIL_FROM',
  what: 'the address that mails verification codes, of a domain that is set up for sending',
  isValid: (value) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value),
  whenEmpty: 'stop here',
}
const YES24_API_KEY: Setting = {
  name: 'YES24_API_KEY',
  what: 'the key of the catalogue YES24',
  isValid: Boolean,
  whenEmpty: 'stop here',
}
const PUBLIC_URL: Setting = {
  name: 'PUBLIC_URL',
  what: 'the address at which clients reach the service',
  isValid: (value) => /^https?:\/\//.test(value) && URL.canParse(value),
  whenEmpty: 'the one that the deployment is given',
}
const JWT_SECRET: Setting = {
  name: 'JWT_SECRET',
  what: 'at least 32 random bytes, which sign the tokens',
  isValid: (value) => new TextEncoder().encode(value).length >= 32,
  whenEmpty: 'it is made',
}

/** The names of the Worker's secrets; none while there is no Worker. */
const listSecrets = async (host: Host, worker: string) => {
  const outcome = await host.wrangler(['secret', 'list'])
  if (outcome.code === 0) return (JSON.parse(outcome.stdout) as { name: string }[]).map(({ name }) => name)
  if (complaint(outcome).startsWith(`Worker "${worker}" not found`)) return []
  throw new Stop(`wrangler secret list: ${complaint(outcome)}`)
}

/** A value from the environment, or from whoever is at the keyboard; undefined when neither gives one. */
const given = async (host: Host, { name, what, isValid, whenEmpty }: Setting) => {
  const value = host.env[name] || (await host.ask?.(`${name}, ${what} (Enter: ${whenEmpty}): `))?.trim()
  if (value && !isValid(value)) throw new Stop(`${name} is not ${what}`)
  return value || undefined
}

/**
 * Finds or asks for what the service must be told. Answers what the Worker does not have yet, and whether it will have
 * a setting.
 */
export const gatherSettings = async (host: Host, config: Config) => {
  const vars = config.vars ?? {}
  const stored = await listSecrets(host, config.name)
  const twice = stored.filter((name) => name in vars)
  if (twice.length > 0) {
    throw new Stop(
      ...twice.map((name) => `${name} is in [vars] and a secret: run \`npx wrangler secret delete ${name}\``),
    )
  }
  const settings: Record<string, string> = {}
  const has = (name: string) => name in vars || name in settings || stored.includes(name)

  const needed = [
    ...(vars.EMAIL_VERIFICATION === 'off' || stored.includes('EMAIL_VERIFICATION') ? [] : [MAIL_FROM]),
    ...(vars.CATALOGUE_PROVIDER === 'yes24' ? [YES24_API_KEY] : []),
  ]
  for (const setting of [...needed, PUBLIC_URL, JWT_SECRET].filter(({ name }) => !has(name))) {
    const value = await given(host, setting)
    if (value) settings[setting.name] = value
  }
  const missing = needed.filter(({ name }) => !has(name)).map(({ name, what }) => `${name} is missing: ${what}`)
  // Workers Builds gives a Worker its secrets from the dashboard, and may do so later.
  if (missing.length > 0 && !host.env.WORKERS_CI) throw new Stop(...missing)
  for (const line of missing) host.say(line)
  return { settings, has }
}

/** A secret for signing tokens, as `openssl rand -base64 48` makes it. */
export const makeSecret = () => btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(48))))

/** Tells the deployed Worker a setting. */
export const putSetting = (host: Host, name: string, value: string) => must(host, ['secret', 'put', name], value)
