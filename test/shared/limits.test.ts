import { runFiles } from '../support/runner/run-files'

runFiles(
  import.meta.glob('../features/limits/*.test.ts'),
  import.meta.glob('../features/limits/*.test.ts', { query: '?raw', import: 'default', eager: true }),
)
