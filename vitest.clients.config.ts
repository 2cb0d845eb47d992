import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/clients/*.test.ts'],
    testTimeout: 60_000,
    // The generator is installed and the service is started, and where there is none yet, so is its database.
    hookTimeout: 240_000,
    reporters: ['default', ['json', { outputFile: 'dist/clients-report.json' }]],
  },
})
