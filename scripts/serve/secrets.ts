import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { generateSecret } from '../deploy/settings.ts'
import { print } from '../print.ts'

const pathOf = (data: string) => join(data, 'secrets.env')

/** The secrets that were generated for the data in a folder; none if there are none. */
export const readSecrets = (data: string): Record<string, string | undefined> =>
  existsSync(pathOf(data)) ? parseEnv(readFileSync(pathOf(data), 'utf8')) : {}

/** Generates the secret that signs tokens. */
export const createSecrets = (data: string) => {
  const JWT_SECRET = generateSecret()
  writeFileSync(pathOf(data), `JWT_SECRET=${JWT_SECRET}\n`, { mode: 0o600, flag: 'a' })
  print(`Wrote JWT_SECRET to ${pathOf(data)}`)
  return { JWT_SECRET }
}
