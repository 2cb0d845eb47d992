import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers'
import { defineConfig } from 'vitest/config'
import { inOrder } from './test/support/runner/in-order.ts'
import { SMOKE_PROJECT, SUITES, skips } from './test/support/runner/smoke.ts'
import { buildReader, readReader } from './test/support/service/reader.ts'
import { SLOT_BINDINGS } from './test/support/service/slot-bindings.ts'

// Tests start wrangler about a hundred times: compiling it takes half of a start.
process.env.NODE_COMPILE_CACHE ??= resolve('node_modules/.cache/compiled')

const isSmoke = process.env.SMOKE !== undefined
if (!isSmoke) {
  // `wrangler` runs this before it bundles.
  execFileSync('npm', ['run', '--silent', 'assets'], { stdio: 'inherit' })
  buildReader()
}

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)
if (!Number.isSafeInteger(seed)) throw new Error('SEED must be an integer')
console.log(`SEED=${seed} repeats the random cases of this run`)

const inFolders = (...folders: string[]) => folders.map((folder) => `test/features/${folder}/*.test.ts`)
/** These send few requests or none. */
const FUNCTIONS = inFolders('formats', 'functions', 'image-files', 'pages')
/** Only the results of these folders, and of attacks, can depend on the slot of a member. */
const SLOT_FOLDERS = ['accounts', 'email', 'images', 'imports', 'limits']
/** Folders whose files share a Worker: each has a file beside it that runs them. */
const FOLDERS = [...SLOT_FOLDERS, 'slots', 'books', 'database', 'deploy', 'http', 'memos', 'sync']
const toFiles = (folders: string[]) => [
  ...folders.map((folder) => `test/features/${folder}.test.ts`),
  'test/attacks/data.test.ts',
]
/** Without isolation, which slots/ tests, and malformed input, which never reaches a slot. */
const ATTACKS_IN_SLOT = ['test/attacks/access/{access,guard}.test.ts', 'test/attacks/{credentials,failures}/*.test.ts']
/** These need limiters, providers, databases or connections that no other file has used. */
const ALONE = [
  ...inFolders('catalogue', 'document', 'export', 'runtime'),
  'test/features/slots/slots-password-reset.test.ts',
  'test/attacks/{access,credentials,failures}/*.test.ts',
]
/** The attacks in slots/ bring databases of their own, so one run of them suffices. Their faults take minutes. */
const ALONE_IN_SLOT = [
  'test/features/export/export{,-import}.test.ts',
  ...ATTACKS_IN_SLOT,
  'test/attacks/slots/*.test.ts',
]

/** The files that take longest: they run first. Files that mostly wait alternate with files that compute. */
const LONGEST = [
  'runbook/',
  'tools/attacks',
  'tools/after-restore',
  'features/accounts.',
  'clients/samples',
  'tools/members',
  'failures/faults',
  'clients/generated',
  'features/books.',
  'tools/dump',
  'access/access',
  'features/imports.',
  'browser/',
  'features/slots.',
  'features/sync.',
  'export/export-import',
  'tools/',
  'catalogue/catalogue-providers',
  'features/limits.',
  'attacks/',
  'runtime/capacity',
  'formats/imports-hostile',
]

const COMMON = {
  tags: [
    { name: 'slow', description: 'hashes many passwords, or waits: npm run test:quick leaves it out' },
    { name: 'one-slot', description: 'cannot depend on the slot of members: npm run test:slots leaves it out' },
  ],
  // Many tests wait for timeouts.
  maxWorkers: 4,
}

/** @param inSlot1 whether every new member is in slot 1 of 2 */
const inWorker = (name: string, include: string[], { inSlot1 = false, isolate = true } = {}) => ({
  // Otherwise this file would run again for each project.
  extends: false as const,
  plugins: [
    cloudflareTest(async ({ inject }) => ({
      wrangler: { configPath: './wrangler.toml' },
      miniflare: {
        compatibilityFlags: ['nodejs_compat'],
        workers: [{ ...readReader(), modules: true }],
        // Empty databases, for tests that apply the migrations themselves: one to migrate in steps, two more slots, and
        // those of a large deployment.
        d1Databases: {
          MIGRATED: 'migrated',
          SPARE_1: 'spare-1',
          SPARE_2: 'spare-2',
          ...Object.fromEntries(SLOT_BINDINGS.map((binding) => [`LARGE_${binding}`, `large-${binding}`])),
          ...(inSlot1 && { DB_1: 'slot-1' }),
        },
        // Outgoing requests go to the fake catalogue providers.
        outboundService: (request: Request) => {
          const { host, pathname, search } = new URL(request.url)
          const headers = { ...Object.fromEntries(request.headers), 'X-Asked-Host': host }
          return fetch(`http://127.0.0.1:${inject('providerPort')}${pathname}${search}`, {
            headers,
            redirect: 'manual',
          })
        },
        bindings: {
          JWT_SECRET: 'a secret of the tests only, which no deployment has',
          EMAIL_VERIFICATION: 'off',
          MAIL_FROM: 'library@library.test',
          LOG_SAMPLE_RATE: '1',
          CATALOGUE_PROVIDER: 'sample',
          PUBLIC_URL: 'https://library.test/',
          ...(inSlot1 && { NEW_MEMBERS: '*:1', ADDRESS_KEY: 'a key of the tests only, for the hashes of addresses' }),
          SEED: seed,
          ALL_FAULTS: process.env.ALL_FAULTS === '1',
          MIGRATIONS: await readD1Migrations('./migrations'),
        },
      },
    })),
  ],
  test: {
    ...COMMON,
    name,
    include,
    isolate,
    globalSetup: ['./test/support/runner/provider-server.ts'],
    setupFiles: ['./test/support/runner/setup.ts'],
    // Passwords are hashed at their real cost (each hash once: test/support/hashes.ts), fifty concurrently in one test.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})

const inNode = (name: string, options: object) => ({
  extends: false as const,
  // Starting the service includes the migrations.
  test: {
    ...COMMON,
    name,
    include: [`test/${name}/*.test.ts`],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    ...options,
  },
})

/** Those of `npm test`. */
const PROJECTS = [
  inWorker('functions', FUNCTIONS, { isolate: false }),
  inWorker('folders', toFiles(FOLDERS)),
  inWorker('alone', ALONE),
  inNode('tools', {}),
]
/** With ALL_TESTS=1, `npm test` runs these, too. Together they take less time than after each other, as many of them wait. */
const SLOWER_PROJECTS = [
  inWorker('slot-folders', toFiles(SLOT_FOLDERS), { inSlot1: true }),
  inWorker('slot-alone', ALONE_IN_SLOT, { inSlot1: true }),
  inNode('runbook', { testTimeout: 300_000 }),
  // Chromium takes seconds to lay out the reference beside other load.
  inNode('browser', { expect: { poll: { timeout: 60_000 } } }),
  inNode('clients', { globalSetup: 'test/clients/install.ts', testTimeout: 300_000 }),
]
/** One of the files that others run together. */
const FILES = inWorker('files', [...inFolders(...FOLDERS), 'test/attacks/data/*.test.ts'])

const toProjects = () => {
  if (isSmoke) return [SMOKE_PROJECT]
  // Projects or files are named.
  if (process.argv.slice(2).join(' ') !== 'run') return [...PROJECTS, ...SLOWER_PROJECTS, FILES]
  return process.env.ALL_TESTS === '1' ? [...PROJECTS, ...SLOWER_PROJECTS] : PROJECTS
}

export default defineConfig({
  test: {
    projects: toProjects(),
    sequence: { sequencer: inOrder(isSmoke ? SUITES.map((name) => `${name}.test.ts`) : LONGEST) },
    reporters: isSmoke ? ['verbose', skips] : ['default', 'json'],
    outputFile: { json: 'dist/test-report.json' },
    onConsoleLog: (line) => !/"message":"(?:request|sweep)"/.test(line),
  },
})
