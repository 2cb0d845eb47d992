import { execFileSync } from 'node:child_process'
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers'
import { defineConfig } from 'vitest/config'

// `wrangler` runs this before it bundles.
execFileSync('npm', ['run', '--silent', 'assets'], { stdio: 'inherit' })

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)
if (!Number.isSafeInteger(seed)) throw new Error('SEED must be an integer')

export default defineConfig({
  plugins: [
    cloudflareTest(async ({ inject }) => ({
      wrangler: { configPath: './wrangler.toml' },
      miniflare: {
        compatibilityFlags: ['nodejs_compat'],
        // Empty databases, for tests that apply the migrations themselves: one to migrate in steps, two more slots.
        d1Databases: { MIGRATED: 'migrated', SPARE_1: 'spare-1', SPARE_2: 'spare-2' },
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
          CATALOGUE_PROVIDER: 'sample',
          PUBLIC_URL: 'https://library.test/',
          SEED: seed,
          MIGRATIONS: await readD1Migrations('./migrations'),
        },
      },
    })),
  ],
  test: {
    globalSetup: ['./test/support/provider-server.ts'],
    setupFiles: ['./test/setup.ts'],
    include: ['test/features/*.test.ts', 'test/attacks/*.test.ts'],
    // Passwords are hashed at their real cost, fifty concurrently in one test.
    testTimeout: 60_000,
    // Several tests wait for timeouts.
    maxWorkers: 2,
    reporters: ['default', ['json', { outputFile: 'dist/test-report.json' }]],
    onConsoleLog: (line) => !line.includes('"message":"request"'),
  },
})
