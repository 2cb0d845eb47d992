import { runFolder } from '../support/runner/folder'

runFolder(
  import.meta.glob('./http/*.test.ts'),
  import.meta.glob('./http/*.test.ts', { query: '?raw', import: 'default', eager: true }),
)
