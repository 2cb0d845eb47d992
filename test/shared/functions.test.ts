import { runFiles } from '../support/runner/run-files'

runFiles(
  import.meta.glob('../features/{formats,functions,image-files,pages}/*.test.ts'),
  import.meta.glob('../features/{formats,functions,image-files,pages}/*.test.ts', {
    query: '?raw',
    import: 'default',
    eager: true,
  }),
)
