import type { Slot } from '../slots/table.ts'
import { runWrangler } from './run.ts'

/** Applies the migrations to local databases, one after the other, since they share files. Returns the exit code. */
export const migrateLocal = async (slots: Slot[], persistTo: string, config: string[]) => {
  for (const { binding } of slots) {
    const args = ['d1', 'migrations', 'apply', binding, '--local', '--persist-to', persistTo, ...config]
    const code = await runWrangler('ignore', ...args)
    if (code !== 0) return code
  }
  return 0
}
