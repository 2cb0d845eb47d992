import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/browser/*.test.ts'],
    testTimeout: 120_000,
    // Starting the service includes the migrations.
    hookTimeout: 120_000,
    reporters: ['default', ['json', { outputFile: 'dist/browser-report.json' }]],
  },
})
