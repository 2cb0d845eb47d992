// Executes the code samples of the served document, in the order of its examples, each language on a new service.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { EXAMPLES } from '../../src/openapi/examples.ts'
import { startService } from '../support/dev-server.ts'
import { PICTURE, pictureFile } from './stories/picture.ts'

type Operation = { operationId: string; 'x-codeSamples': { label: string; source: string }[] }
/** Executes a sample. Returns the token or the URL of an image in its response, if there is one. */
type Execute = (source: string, token: string) => Promise<string | undefined>

const AsyncFunction: FunctionConstructor = Object.getPrototypeOf(async () => {}).constructor

const runFetch: Execute = async (source, token) => {
  const setsToken = source.includes('const token')
  const check = 'if (!response.ok) throw new Error(await response.text())'
  const end = setsToken ? 'return token' : "return typeof result === 'string' ? result : undefined"
  const sample = new AsyncFunction('file', ...(setsToken ? [] : ['token']), [source, check, end].join('\n'))
  return sample(pictureFile, token)
}

const runCurl: Execute = async (source, token) => {
  const cwd = mkdtempSync(join(tmpdir(), 'reading-library-'))
  writeFileSync(join(cwd, 'page.png'), PICTURE)
  const command = source.replace('curl', 'curl --silent --show-error --fail-with-body')
  const printed = execFileSync('sh', ['-c', command], { cwd, env: { ...process.env, TOKEN: token }, encoding: 'utf8' })
  rmSync(cwd, { recursive: true })
  return printed.match(/^authorization: Bearer (.+?)\r?$/im)?.[1] ?? printed.match(/^"(http.+)"$/)?.[1]
}

it.each([
  ['fetch', runFetch],
  ['curl', runCurl],
])('every sample for %s works', async (language, execute) => {
  const service = await startService()
  onTestFinished(service.stop)
  const { paths } = (await (await fetch(`${service.base}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, Operation>>
  }
  const operations = Object.values(paths).flatMap((item) => Object.values(item))
  const exampleImage = String(EXAMPLES.loadImage?.parameters?.name)
  let token = ''
  let image = exampleImage
  for (const operationId of Object.keys(EXAMPLES)) {
    const samples = operations.find((operation) => operation.operationId === operationId)?.['x-codeSamples']
    const source = samples?.find(({ label }) => label === language)?.source ?? ''
    expect(source, operationId).toContain('https://library.example.com/')
    const local = source.replaceAll('https://library.example.com', service.base).replaceAll(exampleImage, image)
    const returned = await execute(local, token).catch((error) => {
      throw new Error(`${operationId}: ${error}\n${local}`)
    })
    if (operationId === 'logIn') token = returned ?? ''
    if (operationId === 'uploadMemoImage') image = returned?.split('/').at(-1) ?? ''
  }
})
