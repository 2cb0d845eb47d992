import { runFolder } from '../support/runner/folder'

runFolder(
  import.meta.glob('./database/*.test.ts'),
  import.meta.glob('./database/*.test.ts', { query: '?raw', import: 'default', eager: true }),
)
