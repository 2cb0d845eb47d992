import { execFileSync } from 'node:child_process'
import { readD1Migrations } from '@cloudflare/vitest-pool-workers'
import { buildReader, readReader } from '../service/reader.ts'
import { SLOT_BINDINGS } from '../service/slot-bindings.ts'

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)
if (!Number.isSafeInteger(seed)) throw new Error('SEED must be an integer')
// For tests in Node, and the attacks that they run.
process.env.SEED = String(seed)

/** Builds what the Worker under test needs: static files, which `wrangler` builds before it bundles, and the reader. */
export const buildParts = () => {
  console.log(`SEED=${seed} repeats the random cases of this run`)
  execFileSync('npm', ['run', '--silent', 'assets'], { stdio: 'inherit' })
  buildReader()
}

/** Outgoing requests go to the fake catalogue providers. */
const sendToProviders = (port: number) => (request: Request) => {
  const { host, pathname, search } = new URL(request.url)
  const headers = { ...Object.fromEntries(request.headers), 'X-Asked-Host': host }
  return fetch(`http://127.0.0.1:${port}${pathname}${search}`, { headers, redirect: 'manual' })
}

/**
 * The Worker under test: that of wrangler.toml with the settings of tests.
 * @param inSlot1 whether every new member is in slot 1 of 2
 */
export const toWorker =
  (inSlot1: boolean) =>
  async ({ inject }: { inject: (key: 'providerPort') => number }) => ({
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
      outboundService: sendToProviders(inject('providerPort')),
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
  })
