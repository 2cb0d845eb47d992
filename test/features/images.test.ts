import { runFolder } from '../support/runner/folder'

runFolder(
  import.meta.glob('./images/*.test.ts'),
  import.meta.glob('./images/*.test.ts', { query: '?raw', import: 'default', eager: true }),
)
