import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/clients/*.test.ts'],
    testTimeout: 60_000,
    // Includes the installation of the generator on first use.
    hookTimeout: 240_000,
    reporters: ['default', ['json', { outputFile: 'dist/clients-report.json' }]],
  },
})
