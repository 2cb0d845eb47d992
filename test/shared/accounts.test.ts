import { runFiles } from '../support/runner/run-files'

runFiles(
  import.meta.glob('../features/{accounts,email}/*.test.ts'),
  import.meta.glob('../features/{accounts,email}/*.test.ts', {
    query: '?raw',
    import: 'default',
    eager: true,
  }),
)
