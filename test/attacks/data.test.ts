import { runFolder } from '../support/runner/folder'

runFolder(
  import.meta.glob('./data/*.test.ts'),
  import.meta.glob('./data/*.test.ts', { query: '?raw', import: 'default', eager: true }),
)
