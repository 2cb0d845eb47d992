import { runFolder } from '../support/runner/folder'

runFolder(
  import.meta.glob('./sync/*.test.ts'),
  import.meta.glob('./sync/*.test.ts', { query: '?raw', import: 'default', eager: true }),
)
