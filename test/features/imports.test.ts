import { runFolder } from '../support/runner/folder'

runFolder(
  import.meta.glob('./imports/*.test.ts'),
  import.meta.glob('./imports/*.test.ts', { query: '?raw', import: 'default', eager: true }),
)
