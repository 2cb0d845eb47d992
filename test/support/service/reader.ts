import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'

const CONFIG = 'wrangler.reader.toml'
const FOLDER = 'dist/reader'

const setting = (name: string) => new RegExp(`^${name} = "(.+)"`, 'm').exec(readFileSync(CONFIG, 'utf8'))?.[1] ?? ''

/** Bundles the Worker that reads files. Other processes may read it meanwhile. */
export const buildReader = () => {
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false' }
  const folder = `${FOLDER}-${process.pid}`
  execFileSync('wrangler', ['deploy', '--dry-run', '--config', CONFIG, '--outdir', folder], { env, stdio: 'pipe' })
  mkdirSync(FOLDER, { recursive: true })
  renameSync(`${folder}/index.js`, `${FOLDER}/index.js`)
  rmSync(folder, { recursive: true })
}

/** Returns the Worker that reads files. Call `buildReader` first. */
export const readReader = () => ({
  name: setting('name'),
  compatibilityDate: setting('compatibility_date'),
  script: readFileSync(`${FOLDER}/index.js`, 'utf8'),
})
