import { runFiles } from '../support/runner/run-files'

runFiles(
  import.meta.glob('../features/{database,deploy,http}/*.test.ts'),
  import.meta.glob('../features/{database,deploy,http}/*.test.ts', { query: '?raw', import: 'default', eager: true }),
)
