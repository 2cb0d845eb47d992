import { runFolder } from '../support/runner/folder'

runFolder(
  import.meta.glob('./memos/*.test.ts'),
  import.meta.glob('./memos/*.test.ts', { query: '?raw', import: 'default', eager: true }),
)
