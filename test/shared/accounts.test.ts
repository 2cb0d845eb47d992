import { runFiles } from '../support/runner/run-files'

runFiles(
  import.meta.glob('../features/{accounts,email,images,limits}/*.test.ts'),
  import.meta.glob('../features/{accounts,email,images,limits}/*.test.ts', {
    query: '?raw',
    import: 'default',
    eager: true,
  }),
)
