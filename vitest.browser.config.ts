import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/browser/*.test.ts'],
    testTimeout: 120_000,
    // The service is started, and where there is none yet, so is its database.
    hookTimeout: 120_000,
    reporters: ['default', ['json', { outputFile: 'dist/browser-report.json' }]],
  },
})
