import { execFileSync } from 'node:child_process'
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers'
import { defineConfig } from 'vitest/config'
import { buildReader, readReader } from './test/support/service/reader.ts'
import { SLOT_BINDINGS } from './test/support/service/slot-bindings.ts'

// `wrangler` runs this before it bundles.
execFileSync('npm', ['run', '--silent', 'assets'], { stdio: 'inherit' })
buildReader()

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)
if (!Number.isSafeInteger(seed)) throw new Error('SEED must be an integer')
console.log(`SEED=${seed} repeats the random cases of this run`)

/** With SLOTS=1, every new member is in slot 1 of 2. */
const inSlot1 = process.env.SLOTS === '1'
/** What `npm run test:slots` leaves out, with the reason. */
const ONE_DATABASE_ONLY: Record<string, string> = {
  'takes two database calls to sign up, change a password or log in': 'three in slot 1: slots-sign-up.test.ts',
  'takes one database call to refuse a login': 'two in slot 1: slots-sign-up.test.ts',
  'is consumed by the sign-up, in two database calls': 'three in slot 1: slots-sign-up.test.ts',
  'are what the service answers': 'the examples have the identifiers of slot 0',
  'issues an HS256 token without personal data': 'the token also names the slot: slots-sign-up.test.ts',
  'X-D1-Bookmark': 'a bookmark also names its slot: slots-routing.test.ts',
  'uses one database call for any number of health checks': 'one for each database: slots-sign-up.test.ts',
  'the rate limit of a network': 'counts requests before the database of the member is known',
  'above 1,000 a minute': 'the binding counts the same for members of all databases',
  'sign up: fails cleanly or succeeds': 'faults in both databases: attacks/slots.test.ts',
}
/** The tests whose results cannot depend on the database that members are in. */
const WITHOUT_MEMBERS = [
  'catalogue',
  'catalogue-providers',
  'client',
  'deploy',
  'deep-pages',
  'deploy-slots',
  'device',
  'docs',
  'fold',
  'images-clean',
  'images-conditions',
  'images-limits',
  'images-tables',
  'imports-columns',
  'imports-csv',
  'imports-generic',
  'imports-goodreads',
  'imports-hostile',
  'imports-kindle',
  'imports-koreader',
  'imports-lines',
  'imports-normalize',
  'imports-readwise',
  'imports-services',
  'imports-storygraph',
  'imports-text',
  'limiter',
  'mail',
  'mailed-code',
  'multipart',
  'operations',
  'quotas-bytes',
  'retry',
]
const titles = Object.keys(ONE_DATABASE_ONLY).map((title) => title.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))

export default defineConfig({
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
          ...Object.fromEntries(SLOT_BINDINGS.map((name) => [`LARGE_${name}`, `large-${name}`])),
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
    globalSetup: ['./test/support/runner/provider-server.ts'],
    setupFiles: ['./test/support/runner/setup.ts'],
    include: ['test/features/*/*.test.ts', 'test/attacks/*.test.ts'],
    // The tests of slots bring their own databases, so one run of them suffices. Their faults take minutes.
    exclude: inSlot1
      ? [
          'test/features/slots/*.test.ts',
          'test/attacks/slots-isolation.test.ts',
          `test/features/*/{${WITHOUT_MEMBERS.join()}}.test.ts`,
        ]
      : ['test/attacks/slots.test.ts', 'test/attacks/email-change.test.ts'],
    ...(inSlot1 && { testNamePattern: new RegExp(`^(?!.*(?:${titles.join('|')}))`) }),
    // Passwords are hashed at their real cost (each hash once: test/support/hashes.ts), fifty concurrently in one test.
    testTimeout: 60_000,
    // Several tests wait for timeouts.
    maxWorkers: 3,
    reporters: ['default', ['json', { outputFile: inSlot1 ? 'dist/slots-report.json' : 'dist/test-report.json' }]],
    onConsoleLog: (line) => !line.includes('"message":"request"'),
  },
})
