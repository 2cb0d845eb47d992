import { runFolder } from '../support/runner/folder'

// Without the file of password resets: the shares of slots depend on all identifiers that a database has assigned.
runFolder(
  import.meta.glob(['./slots/*.test.ts', '!./slots/slots-password-reset.test.ts']),
  import.meta.glob('./slots/*.test.ts', { query: '?raw', import: 'default', eager: true }),
)
