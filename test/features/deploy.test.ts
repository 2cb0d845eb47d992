import { runFolder } from '../support/runner/folder'

runFolder(
  import.meta.glob('./deploy/*.test.ts'),
  import.meta.glob('./deploy/*.test.ts', { query: '?raw', import: 'default', eager: true }),
)
