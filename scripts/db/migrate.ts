// `npm run db -- migrate`: applies the migrations to all local databases. `npm run deploy` does so to deployed ones.
import { parseArgs } from 'node:util'
import { readLocalSlots } from '../wrangler/config.ts'
import { migrateLocal } from '../wrangler/migrate-local.ts'

const { values } = parseArgs({ options: { 'persist-to': { type: 'string', default: '.wrangler/state' } } })
const slots = readLocalSlots(values['persist-to'])
process.exit(await migrateLocal(slots, values['persist-to']))
