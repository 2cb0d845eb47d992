import { runFiles } from '../support/runner/run-files'

// Whom slots-password-reset.test.ts counts in each slot, other files change.
runFiles(
  import.meta.glob(['../features/slots/*.test.ts', '!../features/slots/slots-password-reset.test.ts']),
  import.meta.glob('../features/slots/*.test.ts', { query: '?raw', import: 'default', eager: true }),
)
