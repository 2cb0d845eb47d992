import { runFiles } from '../support/runner/run-files'

runFiles(
  import.meta.glob('../features/imports/*.test.ts'),
  import.meta.glob('../features/imports/*.test.ts', { query: '?raw', import: 'default', eager: true }),
)
