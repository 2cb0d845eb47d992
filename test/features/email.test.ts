import { runFolder } from '../support/runner/folder'

runFolder(
  import.meta.glob('./email/*.test.ts'),
  import.meta.glob('./email/*.test.ts', { query: '?raw', import: 'default', eager: true }),
)
