import { runFiles } from '../support/runner/run-files'

runFiles(
  import.meta.glob('../attacks/slots/*.test.ts'),
  import.meta.glob('../attacks/slots/*.test.ts', { query: '?raw', import: 'default', eager: true }),
)
