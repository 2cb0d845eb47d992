import { isIP } from 'node:net'
import { settingNames } from '../../src/env.ts'
import { createSecrets, readSecrets } from './secrets.ts'

type Environment = Record<string, string | undefined>

/** Where they differ from those of a deployment. The sender is that of mails that are only printed. */
const DEFAULTS = { SIGN_UP: 'invited', LOG_SAMPLE_RATE: '1', MAIL_FROM: 'library@example.com' }
const LOCAL_HOST = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/

const readPort = (text: string) => {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new Error(`PORT is not a port: ${text}`)
}

/**
 * Reads the settings from the environment, and the secrets of the data, which it generates at the first start.
 * @throws Error that says what to set
 */
export const readSettings = (data: string, environment: Environment) => {
  // An empty value counts as missing: compose.yaml cannot leave one out.
  const given: Environment = Object.fromEntries(Object.entries(environment).filter(([, value]) => value?.trim()))
  const { HOST: host = '127.0.0.1', SMTP_URL: smtpUrl, TRUSTED_PROXY: trustedProxy } = given
  const port = readPort(given.PORT ?? '8787')
  if (trustedProxy && !isIP(trustedProxy)) throw new Error(`TRUSTED_PROXY is not an IP address: ${trustedProxy}`)
  if (smtpUrl && !/^smtps?:\/\/./.test(smtpUrl)) throw new Error('SMTP_URL is not like smtps://user:password@host:465')
  if (smtpUrl && !given.MAIL_FROM) throw new Error('Set MAIL_FROM to the address from which SMTP_URL sends')
  if (!given.PUBLIC_URL && !LOCAL_HOST.test(host))
    throw new Error(
      `Set PUBLIC_URL to the address at which clients reach this service, such as http://192.168.1.20:${port}`,
    )
  const known: Environment = { ...DEFAULTS, ...readSecrets(data), ...given }
  if (!known.JWT_SECRET) Object.assign(known, createSecrets(data))
  const service = settingNames().flatMap((name) => (known[name] === undefined ? [] : [[name, known[name]] as const]))
  return { host, port, smtpUrl, trustedProxy, service: Object.fromEntries(service) as Record<string, string> }
}
