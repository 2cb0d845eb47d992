import { applyD1Migrations } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { rememberHashes } from '../hashes'

rememberHashes()
await applyD1Migrations(env.DB, env.MIGRATIONS)
if (env.DB_1) await applyD1Migrations(env.DB_1, env.MIGRATIONS)
