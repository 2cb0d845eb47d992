import { runFiles } from '../support/runner/run-files'

// The first needs databases in which no file has used identifiers: stand-ins for members are as frequent in a slot as
// its members have been.
runFiles(
  {
    ...import.meta.glob('../features/slots/slots-password-reset.test.ts'),
    ...import.meta.glob('../features/slots/*.test.ts'),
  },
  import.meta.glob('../features/slots/*.test.ts', { query: '?raw', import: 'default', eager: true }),
)
