// `npm run db -- generate`: writes a migration for the changes of src/db/schema.ts.
import { spawnSync } from 'node:child_process'

const { status } = spawnSync('drizzle-kit', ['generate', ...process.argv.slice(2)], { stdio: 'inherit' })
process.exit(status ?? 1)
