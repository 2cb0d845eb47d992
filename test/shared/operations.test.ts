import { runFiles } from '../support/runner/run-files'

// The first needs databases in which no file has used identifiers: examples begin at 1.
runFiles(
  {
    ...import.meta.glob('../features/document/openapi.test.ts'),
    ...import.meta.glob([
      '../features/{database,deploy,document,http,runtime}/*.test.ts',
      '../features/catalogue/catalogue{,-providers}.test.ts',
    ]),
  },
  import.meta.glob('../features/{catalogue,database,deploy,document,http,runtime}/*.test.ts', {
    query: '?raw',
    import: 'default',
    eager: true,
  }),
)
