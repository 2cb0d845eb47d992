import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  plugins: [
    cloudflareTest(async () => ({
      wrangler: { configPath: './wrangler.toml' },
      miniflare: {
        compatibilityFlags: ['nodejs_compat'],
        // A second database, on which the migrations are applied one by one.
        d1Databases: { MIGRATED: 'migrated' },
        bindings: {
          JWT_SECRET: 'a secret of the tests only, which no deployment has',
          EMAIL_VERIFICATION: 'off',
          MIGRATIONS: await readD1Migrations('./migrations'),
        },
      },
    })),
  ],
  test: {
    setupFiles: ['./test/setup.ts'],
    include: ['test/**/*.test.ts'],
    // Passwords are hashed at their real cost, fifty at once in one test.
    testTimeout: 60_000,
    reporters: ['default', ['json', { outputFile: 'dist/test-report.json' }]],
    onConsoleLog: (line) => !line.includes('"message":"request"'),
  },
})
