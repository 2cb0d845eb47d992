import { runFiles } from '../support/runner/run-files'

// The first two need databases in which no file has used identifiers: examples begin at 1, and stand-ins for members are
// as frequent in a slot as its members have been.
runFiles(
  {
    ...import.meta.glob('../features/{document/openapi,slots/slots-password-reset}.test.ts'),
    ...import.meta.glob([
      '../features/{database,deploy,document,http,runtime,slots}/*.test.ts',
      '../features/catalogue/catalogue{,-providers}.test.ts',
    ]),
  },
  import.meta.glob('../features/{catalogue,database,deploy,document,http,runtime,slots}/*.test.ts', {
    query: '?raw',
    import: 'default',
    eager: true,
  }),
)
