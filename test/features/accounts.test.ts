import { runFolder } from '../support/runner/folder'

runFolder(
  import.meta.glob('./accounts/*.test.ts'),
  import.meta.glob('./accounts/*.test.ts', { query: '?raw', import: 'default', eager: true }),
)
