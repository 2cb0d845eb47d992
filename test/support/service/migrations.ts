import { globSync, readFileSync } from 'node:fs'

/** The statements of all migrations, in order. */
export const readMigrations = () =>
  globSync('migrations/*.sql')
    .sort()
    .flatMap((file) => readFileSync(file, 'utf8').split('--> statement-breakpoint'))
