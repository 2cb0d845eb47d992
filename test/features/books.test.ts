import { runFolder } from '../support/runner/folder'

runFolder(
  import.meta.glob('./books/*.test.ts'),
  import.meta.glob('./books/*.test.ts', { query: '?raw', import: 'default', eager: true }),
)
