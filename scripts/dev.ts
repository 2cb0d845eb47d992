// Serves the API locally: secrets on first use, then the migrations, then `wrangler dev` with the flags handed on.
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

const VARIABLES = '.dev.vars'

const wrangler = (...args: string[]) => {
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' }
  return spawnSync('wrangler', args, { stdio: 'inherit', env }).status ?? 1
}

if (!existsSync(VARIABLES)) {
  const secret = randomBytes(48).toString('base64')
  writeFileSync(VARIABLES, `JWT_SECRET=${secret}\nEMAIL_VERIFICATION=off\n`, { mode: 0o600, flag: 'wx' })
  console.log(`Wrote ${VARIABLES}: a fresh JWT_SECRET, and no verification of e-mail addresses`)
}

const flags = process.argv.slice(2)
const { values } = parseArgs({ args: flags, strict: false, options: { 'persist-to': { type: 'string' } } })
const persistTo = typeof values['persist-to'] === 'string' ? ['--persist-to', values['persist-to']] : []

const migrated = wrangler('d1', 'migrations', 'apply', 'DB', '--local', ...persistTo)
process.exitCode = migrated === 0 ? wrangler('dev', '--local', ...flags) : migrated
