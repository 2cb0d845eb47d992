import { runFiles } from '../support/runner/run-files'

// The examples of openapi.test.ts need databases whose identifiers begin at 1.
runFiles(
  import.meta.glob(['../features/{database,deploy,http}/*.test.ts', '../features/document/{client,docs}.test.ts']),
  import.meta.glob(['../features/{database,deploy,http}/*.test.ts', '../features/document/{client,docs}.test.ts'], {
    query: '?raw',
    import: 'default',
    eager: true,
  }),
)
