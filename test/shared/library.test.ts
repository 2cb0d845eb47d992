import { runFiles } from '../support/runner/run-files'

runFiles(
  import.meta.glob('../features/{books,memos,sync}/*.test.ts'),
  import.meta.glob('../features/{books,memos,sync}/*.test.ts', { query: '?raw', import: 'default', eager: true }),
)
