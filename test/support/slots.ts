import { applyD1Migrations } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { hashAddress } from '../../src/keyed-hash'
import { wrapDatabase } from './wrap-database'

export const ADDRESS_KEY = 'a key of the tests only, which hashes the addresses'

/** Further databases for one request. Apply the migrations first. */
export const SLOTS = { DB_1: env.SPARE_1, DB_2: env.SPARE_2, ADDRESS_KEY }
export const DATABASES = { DB: env.DB, DB_1: env.SPARE_1, DB_2: env.SPARE_2 }

export const migrateSlots = async () => {
  for (const database of [env.SPARE_1, env.SPARE_2]) await applyD1Migrations(database, env.MIGRATIONS)
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

const selectFrom = async <Row>(database: D1Database, query: string) =>
  (await database.prepare(query).all<Row>()).results
const MEMBERS = 'select memberId, lower(email) as email from members where withdrawnAt is null'

/** Compares the directory with the members: every member of another slot than 0 has one entry, which is held. */
export const findDirectoryProblems = async () => {
  const problems: string[] = []
  const slots = [env.DB, env.SPARE_1, env.SPARE_2]
  type Member = { memberId: number; email: string }
  const members = await Promise.all(slots.map((database) => selectFrom<Member>(database, MEMBERS)))
  const emails = members.flat().map(({ email }) => email)
  for (const email of new Set(emails)) {
    const count = emails.filter((other) => other === email).length
    if (count > 1) problems.push(`${count} members have ${email}`)
  }
  const entries = await selectFrom<{ hash: string; memberId: number; slot: number; state: string }>(
    env.DB,
    'select hex(addressHash) as hash, memberId, slot, state from addresses',
  )
  const describe = (hash: string, memberId: number, slot: number) => `${hash}: member ${memberId} of slot ${slot}, HELD`
  const expected = new Set<string>()
  for (const [slot, rows] of members.entries()) {
    if (slot === 0) continue
    for (const { memberId, email } of rows) {
      expected.add(describe(await hashAddress(ADDRESS_KEY, email), memberId, slot))
    }
  }
  const found = new Set(
    entries.map(({ hash, memberId, slot, state }) => `${hash}: member ${memberId} of slot ${slot}, ${state}`),
  )
  for (const entry of found.difference(expected)) problems.push(`without a member: ${entry}`)
  for (const entry of expected.difference(found)) problems.push(`missing: ${entry}`)
  return problems
}
