import { runFiles } from '../support/runner/run-files'

runFiles(
  import.meta.glob('../features/{accounts,email,images}/*.test.ts'),
  import.meta.glob('../features/{accounts,email,images}/*.test.ts', { query: '?raw', import: 'default', eager: true }),
)
