import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = import.meta.dirname
const changedAt = (file: string) => statSync(join(FOLDER, file), { throwIfNoEntry: false })?.mtimeMs ?? 0

/** Installs the packages of this folder if the lock file has changed since the last installation. */
export default () => {
  if (changedAt('node_modules/.package-lock.json') > changedAt('package-lock.json')) return
  console.log('Installing the generators of test/clients…')
  const { status } = spawnSync('npm', ['ci'], { cwd: FOLDER, stdio: 'inherit' })
  if (status !== 0) throw new Error('npm ci failed in test/clients')
}
