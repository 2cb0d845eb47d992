// Executes the code samples of the served document, in the order of its examples, each language on a new service.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hc } from 'hono/client'
import { expect, it, onTestFinished, vi } from 'vitest'
import { EXAMPLES, EXPORT } from '../../src/openapi/examples.ts'
import { createPlaceholders } from '../support/document/placeholders.ts'
import { pushExample } from '../support/document/push-example.ts'
import { startService } from '../support/service/dev-server.ts'
import { PICTURE, pictureFile } from './stories/picture.ts'

type Operation = { operationId: string; security?: object[]; 'x-codeSamples': { label: string; source: string }[] }
/** Executes a sample. Returns the token or the body in its response, if there is one. */
type Execute = (
  source: string,
  token: string,
  fileName?: string,
) => Promise<{ token?: string | undefined; body?: unknown }>

const operationsOf = ({ paths }: { paths: Record<string, Record<string, Operation>> }) =>
  Object.values(paths).flatMap((item) => Object.values(item))
const sampleOf = (operation: Operation | undefined, language: string) =>
  operation?.['x-codeSamples'].find(({ label }) => label === language)?.source ?? ''

const AsyncFunction: FunctionConstructor = Object.getPrototypeOf(async () => {}).constructor

const FILES: Record<string, File> = {
  'page.png': pictureFile,
  'goodreads_library_export.csv': new File([EXPORT], 'goodreads_library_export.csv'),
}

const runFetch: Execute = async (source, token, fileName = '') => {
  const tokenName = source.match(/const (token|newToken) =/)?.[1]
  const check = 'if (!response.ok) throw new Error(await response.text())'
  const end = tokenName
    ? `return { token: ${tokenName} }`
    : "return { body: typeof result === 'undefined' ? undefined : result }"
  const variables = tokenName === 'token' ? ['hc', 'file'] : ['hc', 'file', 'token']
  const sample = new AsyncFunction(...variables, [source, check, end].join('\n'))
  return sample(hc, FILES[fileName], token)
}

const runClient: Execute = (source, ...rest) =>
  runFetch(stripTypeScriptTypes(source.replace(/^import .*$/gm, '')), ...rest)

const runCurl: Execute = async (source, token) => {
  const cwd = mkdtempSync(join(tmpdir(), 'reading-library-'))
  writeFileSync(join(cwd, 'page.png'), PICTURE)
  writeFileSync(join(cwd, 'goodreads_library_export.csv'), EXPORT)
  const command = source.replace('curl', 'curl --silent --show-error --fail-with-body')
  const printed = execFileSync('sh', ['-c', command], { cwd, env: { ...process.env, TOKEN: token }, encoding: 'utf8' })
  rmSync(cwd, { recursive: true })
  if (/^[[{"]/.test(printed)) return { body: JSON.parse(printed) }
  return { token: printed.match(/^authorization: Bearer (.+?)\r?$/im)?.[1] }
}

it.each([
  ['fetch', runFetch],
  ['curl', runCurl],
  ['typed client', runClient],
])('every sample for %s works', async (language, execute) => {
  const service = await startService()
  onTestFinished(service.stop)
  const operations = operationsOf(await (await fetch(`${service.base}/openapi.json`)).json())
  const { learn, learnCode, fill } = createPlaceholders()
  let token = ''

  const executeSample = async (operationId: string) => {
    const operation = operations.find((each) => each.operationId === operationId)
    if (operation?.security?.length && !token) await executeSample('logIn')
    if (operationId === 'listDocuments') {
      const sendAs = async (method: string, path: string, as: string, body: object) => {
        const headers = { Authorization: `Bearer ${as}`, 'Content-Type': 'application/json' }
        return (await fetch(service.base + path, { method, headers, body: JSON.stringify(body) })).json()
      }
      await pushExample(sendAs, token)
    }
    const source = sampleOf(operation, language)
    expect(source, operationId).toContain('https://library.example.com')
    const local = fill(source.replaceAll('https://library.example.com', service.base))
    const printedBefore = service.printed().length
    const { response, file, mailedCode, endsSession } = EXAMPLES[operationId] ?? {}
    const returned = await execute(local, token, file).catch((error) => {
      throw new Error(`${operationId}: ${error}\n${local}`)
    })
    learn(response, returned.body)
    if (mailedCode) await vi.waitFor(() => learnCode(mailedCode, service.printed().slice(printedBefore)), 150_000)
    token = endsSession ? '' : (returned.token ?? token)
  }
  for (const operationId of Object.keys(EXAMPLES)) await executeSample(operationId)
})
