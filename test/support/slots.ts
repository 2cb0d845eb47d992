import { env } from 'cloudflare:workers'
import { findDirectoryProblems as compare } from './accounts/directory'
import { emptyDatabase } from './runner/empty-databases'
import { wrapDatabase } from './wrap-database'

export const ADDRESS_KEY = 'a key of the tests only, which hashes the addresses'

/** Further databases for one request. Call `migrateSlots` first. */
export const SLOTS = { DB_1: env.SPARE_1, DB_2: env.SPARE_2, ADDRESS_KEY }
export const DATABASES = { DB: env.DB, DB_1: env.SPARE_1, DB_2: env.SPARE_2 }

/** Migrates and empties the databases of `SLOTS`. */
export const migrateSlots = async () => {
  for (const database of [env.SPARE_1, env.SPARE_2]) await emptyDatabase(database)
}

type Binding = keyof typeof DATABASES
type Intercept = <T>(binding: Binding, call: () => Promise<T>) => Promise<T>

/** The databases of all slots, each call of which goes through `intercept`. */
export const interceptSlots = (intercept: Intercept) => {
  const wrapped = Object.entries(DATABASES).map(([name, database]) => [
    name,
    wrapDatabase(database, (call) => intercept(name as Binding, call)),
  ])
  return { ...SLOTS, ...(Object.fromEntries(wrapped) as typeof DATABASES) }
}

/** Records which database each call goes to. */
export const recordCalls = () => {
  const calls: Binding[] = []
  const changed = interceptSlots((binding, call) => {
    calls.push(binding)
    return call()
  })
  return { calls, changed }
}

/** Compares the directory with the members of all slots. */
export const findDirectoryProblems = () => compare(Object.values(DATABASES), ADDRESS_KEY)
