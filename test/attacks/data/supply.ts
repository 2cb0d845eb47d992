// Installed packages: each pinned by version and hash, and no install script that is not listed.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Attack } from '../harness/attack'

type Locked = { integrity?: string; link?: boolean; hasInstallScript?: boolean; inBundle?: boolean; optional?: boolean }
type Versions = Record<string, string>
type Manifest = { dependencies?: Versions; devDependencies?: Versions; allowScripts?: Record<string, boolean> }

const readJson = <T>(file: string): T => JSON.parse(readFileSync(file, 'utf8'))
const EXACT_VERSION = /^(?:npm:(?:@[\w-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/

const inspectFolder = (folder: string) => {
  const { dependencies, devDependencies, allowScripts = {} } = readJson<Manifest>(join(folder, 'package.json'))
  const { packages } = readJson<{ packages: Record<string, Locked> }>(join(folder, 'package-lock.json'))
  const locked = Object.entries(packages).filter(([path, { link }]) => path !== '' && !link)
  const withScript = locked.filter(([, { hasInstallScript }]) => hasInstallScript)
  const scripted = withScript.map(([path]) => path.replace(/^.*node_modules\//, ''))
  const versions = Object.entries({ ...dependencies, ...devDependencies })
  // A bundled package is covered by the hash of the package that bundles it.
  const unhashed = locked.filter(([, { integrity, inBundle }]) => !integrity && !inBundle)
  // Packages of other platforms are not installed here, and their lock entries have no hash.
  const isOtherPlatform = ([path, { optional }]: [string, Locked]) => optional && !existsSync(join(folder, path))
  const failures = [
    ...unhashed.filter((entry) => !isOtherPlatform(entry)).map(([path]) => `${path} has no hash`),
    ...scripted.filter((name) => !(name in allowScripts)).map((name) => `${name} has an unlisted install script`),
    ...versions.filter(([, version]) => !EXACT_VERSION.test(version)).map((pair) => `${pair.join(' ')} is not pinned`),
  ]
  return {
    packages: locked.length,
    otherPlatform: unhashed.filter(isOtherPlatform).length,
    scripted: scripted.length,
    failures: failures.map((failure) => `${folder}: ${failure}`),
  }
}

export const supply: Attack = async () => {
  const inspected = globSync('**/package-lock.json', { exclude: (name) => name === 'node_modules' })
    .map(dirname)
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .map(inspectFolder)
  const sum = (key: 'packages' | 'otherPlatform' | 'scripted') =>
    inspected.reduce((total, folder) => total + folder[key], 0)
  const failures = inspected.flatMap((folder) => folder.failures)
  return {
    figures: [
      ['packages in lock files', sum('packages'), `${failures.length} without hash, version or listed script`],
      ['packages of other platforms, locked by version only', sum('otherPlatform'), 'not installed here'],
      ['packages with an install script', sum('scripted'), 'all listed in allowScripts'],
    ],
    failures,
  }
}
