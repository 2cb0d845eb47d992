import { runFiles } from '../support/runner/run-files'

// Of the files that cache what providers answer, one can share a Worker with files that do not.
runFiles(
  import.meta.glob(['../features/runtime/*.test.ts', '../features/catalogue/catalogue.test.ts']),
  import.meta.glob(['../features/runtime/*.test.ts', '../features/catalogue/catalogue.test.ts'], {
    query: '?raw',
    import: 'default',
    eager: true,
  }),
)
