import { runFiles } from '../support/runner/run-files'

runFiles(
  import.meta.glob('../features/runtime/*.test.ts'),
  import.meta.glob('../features/runtime/*.test.ts', { query: '?raw', import: 'default', eager: true }),
)
