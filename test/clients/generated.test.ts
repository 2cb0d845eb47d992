// Clients generated from the served document. Their packages are installed here on first use, to keep them out of the
// main install.
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startService } from '../support/service/dev-server.ts'

const FOLDER = import.meta.dirname
const DOCUMENT = './.build/openapi.json'

/** The command that writes a client to a folder of this name in .build. */
const GENERATORS: Record<string, (output: string) => string> = {
  'hey-api': (output) => `openapi-ts --input ${DOCUMENT} --output ${output} --no-log-file`,
  kubb: () => 'kubb generate',
  oazapfts: (output) => `oazapfts ${DOCUMENT} ${output}/api.ts`,
  'openapi-typescript': (output) => `openapi-typescript ${DOCUMENT} --output ${output}/api.ts`,
  'openapi-typescript-codegen': (output) => `openapi --input ${DOCUMENT} --output ${output}`,
  'openapi-zod-client': (output) => `openapi-zod-client ${DOCUMENT} --output ${output}/api.ts`,
  orval: (output) =>
    `node node_modules/orval/dist/bin/orval.mjs --input ${DOCUMENT} --output ${output}/api.ts --client fetch --fail-on-warnings`,
  'orval-7': (output) =>
    `node node_modules/orval-7/dist/bin/orval.js --input ${DOCUMENT} --output ${output}/api.ts --client fetch`,
  'swagger-typescript-api': (output) =>
    `swagger-typescript-api generate --path ${DOCUMENT} --output ${output} --name api.ts`,
}

// swagger-typescript-api says so of `{book-id}`, and names the argument bookId.
const HARMLESS = /wrong path param name/

/** A schema of zod 3. */
interface Schema {
  shape?: Record<string, Schema>
  safeParse: (value: unknown) => { success: boolean }
}

/** Runs a program of this folder and returns what it printed. Throws that if it fails. */
const run = (commandLine: string) => {
  const [command = '', ...args] = commandLine.split(' ')
  const env = { ...process.env, PATH: `${join(FOLDER, 'node_modules/.bin')}:${process.env.PATH}`, DO_NOT_TRACK: '1' }
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: FOLDER, encoding: 'utf8', env })
  const output = `${stdout}${stderr}`
  if (status !== 0) throw new Error(`${commandLine} failed:\n${output}`)
  return output
}

let service: Awaited<ReturnType<typeof startService>>
beforeAll(async () => {
  service = await startService()
  const document = await fetch(`${service.base}/openapi.json`)
  rmSync(join(FOLDER, '.build'), { recursive: true, force: true })
  mkdirSync(join(FOLDER, '.build'))
  writeFileSync(join(FOLDER, DOCUMENT), await document.text())
})
afterAll(() => service?.stop())

describe.each(Object.entries(GENERATORS))('%s', (name, command) => {
  const output = `.build/${name}`

  it('generates a client without warnings', () => {
    mkdirSync(join(FOLDER, output))
    const warnings = run(command(output)).match(/.*\b(warn(ing)?s?|errors?|fail(ed|ure)?s?)\b.*/gi) ?? []
    expect(warnings.filter((line) => !HARMLESS.test(line))).toEqual([])
  })

  it('compiles', () => {
    writeFileSync(join(FOLDER, output, 'tsconfig.json'), '{ "extends": "../../tsconfig.json", "include": ["."] }')
    run(`tsc -p ${output}`)
  })
})

it('the stories compile', () => {
  run('tsc -p .')
})

it.each(['openapi-fetch', 'hey-api', 'swagger-typescript-api'])(
  'a client of %s signs up, logs in, registers a book, writes a memo with an image, and reads them',
  async (name) => {
    const { tellStory } = await import(/* @vite-ignore */ `./stories/${name}.ts`)
    const { joined, book, image, memo, detail, library, error } = await tellStory(service.base, `${name}@example.com`)
    expect(joined).toEqual({ email: `${name}@example.com`, name: 'Reader' })
    expect(book).toMatchObject({ title: 'Demian', bookStatus: 'ING' })
    expect(memo).toMatchObject({ memoType: 'THOUGHT', memoContent: `<img src="${image}">` })
    expect((await fetch(image)).headers.get('Content-Type')).toBe('image/gif')
    expect(detail).toMatchObject({ bookId: book.bookId, title: 'Demian', memosList: [memo] })
    expect(library).toMatchObject({ item: [{ bookId: book.bookId, memoCount: 1 }], pageInfo: { totalElements: 1 } })
    expect(error).toEqual({ status: 404, message: 'Book not found', fieldErrors: null, violationErrors: null })
  },
)

it('a client of hey-api makes a first sync, and then pulls what has changed', async () => {
  const HEY_API = './stories/hey-api.ts'
  const { tellStory } = await import(/* @vite-ignore */ HEY_API)
  const { book, memo, synced } = await tellStory(service.base, 'sync@example.com')
  const { bookId } = book
  const { memoId } = memo
  expect(synced.titles).toEqual(['Demian'])
  expect(synced.first).toMatchObject([
    { kind: 'book', id: bookId, value: { bookId, tagIds: [], progress: { count: 0 } } },
    { kind: 'reading', value: { bookId, outcome: null } },
    { kind: 'memo', id: memoId, version: expect.any(Number), value: { ...memo, bookId } },
  ])
  expect(synced.later).toMatchObject([
    { kind: 'memo', id: memoId, version: null, value: null },
    { kind: 'book', id: bookId, value: { author: 'Hermann Hesse' } },
  ])
})

it('openapi-zod-client validates the enumerations', async () => {
  const CLIENT = './.build/openapi-zod-client/api.ts'
  const { schemas }: { schemas: Record<string, Schema> } = await import(/* @vite-ignore */ CLIENT)
  const fields = Object.values(schemas).flatMap(({ shape = {} }) => Object.entries(shape))
  const enumerations = fields.filter(([name]) => ['bookStatus', 'memoType', 'memoAuthority'].includes(name))
  expect(enumerations).not.toHaveLength(0)
  for (const [name, schema] of enumerations) expect(schema.safeParse({}).success, name).toBe(false)
})
