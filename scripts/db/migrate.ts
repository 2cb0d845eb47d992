// `npm run db -- migrate`: applies the migrations to all local databases. `npm run deploy` does so to deployed ones.
import { parseOptions } from '../options.ts'
import { exitUnless, requireFolder } from '../paths.ts'
import { readLocalSlots } from '../wrangler/config.ts'
import { migrateLocal } from '../wrangler/migrate-local.ts'

const options = { 'persist-to': { type: 'string', default: '.wrangler/state' } } as const
const { values } = parseOptions({ options }, 'npm run db -- migrate [--persist-to DIR]')
exitUnless(() => requireFolder(values['persist-to']))
const slots = readLocalSlots(values['persist-to'])
process.exit(await migrateLocal(slots, values['persist-to']))
