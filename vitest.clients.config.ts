import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/clients/*.test.ts'],
    globalSetup: 'test/clients/install.ts',
    testTimeout: 60_000,
    // Starting the service includes the migrations.
    hookTimeout: 120_000,
    reporters: ['verbose', ['json', { outputFile: 'dist/clients-report.json' }]],
  },
})
