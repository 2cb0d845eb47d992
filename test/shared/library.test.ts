import { runFiles } from '../support/runner/run-files'

runFiles(
  import.meta.glob(['../features/{books,memos,sync}/*.test.ts', '../features/catalogue/isbn.test.ts']),
  import.meta.glob(['../features/{books,memos,sync}/*.test.ts', '../features/catalogue/isbn.test.ts'], {
    query: '?raw',
    import: 'default',
    eager: true,
  }),
)
