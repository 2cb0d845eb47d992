import { runFiles } from '../support/runner/run-files'

runFiles(
  import.meta.glob('../attacks/{access,credentials,data,failures}/*.test.ts'),
  import.meta.glob('../attacks/{access,credentials,data,failures}/*.test.ts', {
    query: '?raw',
    import: 'default',
    eager: true,
  }),
)
