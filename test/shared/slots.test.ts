import { runFiles } from '../support/runner/run-files'

// slots-password-reset.test.ts counts the members of each slot, which other files change.
runFiles(
  import.meta.glob(['../features/slots/*.test.ts', '!../features/slots/slots-password-reset.test.ts']),
  import.meta.glob('../features/slots/*.test.ts', { query: '?raw', import: 'default', eager: true }),
)
