// Packs the typed client, installs it in a folder outside the repository, and uses it there.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startService } from '../support/service/dev-server.ts'

type Operation = { operationId: string; 'x-codeSamples': { label: string; source: string }[] }

const sampleFunctions = () => {
  const { paths } = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as {
    paths: Record<string, Record<string, Operation>>
  }
  return Object.values(paths)
    .flatMap((item) => Object.values(item))
    .map((operation) => operation['x-codeSamples'].find(({ label }) => label === 'typed client')?.source ?? '')
    .map((source) => `  async () => {\n${source.replace(/^import .*$/gm, '')}\n  },`)
}

it('the packed client compiles every sample and calls a service, without code of the service', async () => {
  const service = await startService()
  onTestFinished(service.stop)
  const folder = mkdtempSync(join(tmpdir(), 'reading-library-app-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const run = (command: string, args: string[], cwd = folder) =>
    execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })

  const [, packed = ''] = /npm install (\S+\.tgz)/.exec(run('npm', ['run', 'client'], resolve('.'))) ?? []
  const files = run('tar', ['-tf', packed]).trim().split('\n')
  expect(files.sort()).toEqual(['package/index.d.ts', 'package/index.js', 'package/package.json'])
  // Types of other packages would have to be read, too.
  expect(run('tar', ['-xOf', packed, 'package/index.d.ts'])).not.toMatch(/^import | from '/m)

  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  run('npm', ['install', '--silent', packed])
  // The next installation keeps it.
  run('npm', ['install', '--silent'])
  const example = readFileSync('test/features/document/client.ts', 'utf8')
  const imports = "import { type Api, hc } from 'reading-library'"
  const local = example.replace(/^import .*$/gm, '').replace('http://localhost:8787', service.base)
  writeFileSync(join(folder, 'example.ts'), `${imports}\n${local}`)
  const declared = 'declare const token: string\ndeclare const file: File'
  writeFileSync(
    join(folder, 'samples.ts'),
    `${imports}\n${declared}\nexport default [\n${sampleFunctions().join('\n')}\n]\n`,
  )
  const misspelled = "export const api = hc<Api>('http://x').boks.$get()"
  writeFileSync(join(folder, 'wrong.ts'), `${imports}\n${misspelled}\n`)
  const compilerOptions = {
    ...{ module: 'nodenext', target: 'es2024', lib: ['es2024', 'dom', 'dom.iterable'], types: [] },
    ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true },
  }
  const compile = (...include: string[]) => {
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include }))
    return run(resolve('node_modules/.bin/tsc'), ['-p', folder])
  }
  compile('example.ts', 'samples.ts')
  expect(() => compile('wrong.ts')).toThrow()
  expect(run('node', ['--experimental-strip-types', '--no-warnings', 'example.ts'])).toBe('BOOK_CONTENT Once more.\n')
})
