import { runFiles } from '../support/runner/run-files'

// Reading only a part of a large export leaves work behind, after which vitest's runner hangs in this Worker.
runFiles(
  import.meta.glob(['../features/{imports,devices,export}/*.test.ts', '!../features/export/export-large.test.ts']),
  import.meta.glob('../features/{imports,devices,export}/*.test.ts', { query: '?raw', import: 'default', eager: true }),
)
