import { runFiles } from '../support/runner/run-files'

runFiles(
  import.meta.glob('../features/images/*.test.ts'),
  import.meta.glob('../features/images/*.test.ts', {
    query: '?raw',
    import: 'default',
    eager: true,
  }),
)
