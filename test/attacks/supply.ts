// What is installed: each package pinned by version and hash, and no script run at installation that is not named.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Part } from './part'

type Locked = {
  integrity?: string
  link?: boolean
  hasInstallScript?: boolean
  inBundle?: boolean
  optional?: boolean
}
type Manifest = {
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  allowScripts?: Record<string, boolean>
}

const readJson = <T>(file: string): T => JSON.parse(readFileSync(file, 'utf8'))
const EXACT = /^(?:npm:(?:@[\w-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+$/

const inspect = (folder: string) => {
  const { dependencies, devDependencies, allowScripts = {} } = readJson<Manifest>(join(folder, 'package.json'))
  const { packages } = readJson<{ packages: Record<string, Locked> }>(join(folder, 'package-lock.json'))
  const locked = Object.entries(packages).filter(([place, { link }]) => place !== '' && !link)
  const nameOf = (place: string) => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const scripted = locked.filter(([, { hasInstallScript }]) => hasInstallScript).map(([place]) => nameOf(place))
  const ranged = Object.entries({ ...dependencies, ...devDependencies }).filter(([, version]) => !EXACT.test(version))
  // What is in the archive of another package is under that one's hash.
  const unhashed = locked.filter(([, { integrity, inBundle }]) => !integrity && !inBundle)
  // Of other platforms; whatever is installed here must have been checked.
  const isElsewhere = ([place, { optional }]: [string, Locked]) => optional && !existsSync(join(folder, place))
  return {
    packages: locked.length,
    elsewhere: unhashed.filter(isElsewhere).length,
    scripted: scripted.length,
    failures: [
      ...unhashed.filter((each) => !isElsewhere(each)).map(([place]) => `${place} has no hash`),
      ...scripted
        .filter((name) => allowScripts[name] === undefined)
        .map((name) => `${name} has a script that is not named`),
      ...ranged.map(([name, version]) => `${name} is not pinned: ${version}`),
    ].map((failure) => `${folder}: ${failure}`),
  }
}

export const supply: Part = async () => {
  const folders = globSync('**/package-lock.json', { exclude: (name) => name === 'node_modules' })
    .map(dirname)
    .filter((folder) => existsSync(join(folder, 'package.json')))
  const inspected = folders.map(inspect)
  const sum = (key: 'packages' | 'elsewhere' | 'scripted') => inspected.reduce((total, each) => total + each[key], 0)
  const failures = inspected.flatMap((each) => each.failures)
  return {
    figures: [
      {
        tried: 'packages in lock files',
        times: sum('packages'),
        found: `${failures.length} without hash, name or version`,
      },
      {
        tried: 'packages of other platforms that the lock file has by version only',
        times: sum('elsewhere'),
        found: 'to be locked where the registry has them',
      },
      { tried: 'packages with a script at installation', times: sum('scripted'), found: 'each named in allowScripts' },
    ],
    failures,
  }
}
