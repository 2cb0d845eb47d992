import { runFiles } from '../support/runner/run-files'

runFiles(
  import.meta.glob('../attacks/{data,access,credentials}/*.test.ts'),
  import.meta.glob('../attacks/{data,access,credentials}/*.test.ts', { query: '?raw', import: 'default', eager: true }),
)
