import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const CONFIG = 'wrangler.reader.toml'
const FOLDER = 'dist/reader'

const setting = (name: string) => new RegExp(`^${name} = "(.+)"`, 'm').exec(readFileSync(CONFIG, 'utf8'))?.[1] ?? ''

/** Bundles the Worker that reads files. */
export const buildReader = () => {
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false' }
  execFileSync('wrangler', ['deploy', '--dry-run', '--config', CONFIG, '--outdir', FOLDER], { env, stdio: 'pipe' })
}

/** Returns the Worker that reads files. Call `buildReader` first. */
export const readReader = () => ({
  name: setting('name'),
  compatibilityDate: setting('compatibility_date'),
  script: readFileSync(`${FOLDER}/index.js`, 'utf8'),
})
