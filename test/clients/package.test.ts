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

  run('npm', ['run', 'client'], resolve('.'))
  const packed = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', folder], resolve('dist/client')))
  const { files, filename } = (Array.isArray(packed) ? packed : Object.values(packed))[0] as {
    files: { path: string }[]
    filename: string
  }
  expect(files.map(({ path }) => path).sort()).toEqual(['index.d.ts', 'index.js', 'package.json'])
  const types = readFileSync('dist/client/index.d.ts', 'utf8')
  expect(types.match(/ from '.*'/g)).toEqual([" from 'hono'", " from 'hono/client'"])

  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  run('npm', ['install', '--silent', join(folder, filename)])
  const example = readFileSync('test/features/document/client.ts', 'utf8')
  const local = example.replace('http://localhost:8787', service.base)
  writeFileSync(join(folder, 'example.ts'), local)
  const declared = 'declare const token: string\ndeclare const file: File'
  const imports = "import { type Api, hc } from 'reading-library'"
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
