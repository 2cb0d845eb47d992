import { runFolder } from '../support/runner/folder'

runFolder(
  import.meta.glob('./limits/*.test.ts'),
  import.meta.glob('./limits/*.test.ts', { query: '?raw', import: 'default', eager: true }),
)
