import { runFiles } from '../support/runner/run-files'

runFiles(
  import.meta.glob('../features/devices/*.test.ts'),
  import.meta.glob('../features/devices/*.test.ts', { query: '?raw', import: 'default', eager: true }),
)
