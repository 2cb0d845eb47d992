import { hashAddress } from '../../../src/auth/keyed-hash'

const selectFrom = async <Row>(database: D1Database, query: string) =>
  (await database.prepare(query).all<Row>()).results
const MEMBERS = 'select memberId, lower(email) as email from members where withdrawnAt is null'

const UNDOS = `
  select memberId, lower(email) as email, max(expiresAt) as expiresAt from emailUndos
  where expiresAt > unixepoch('subsec') * 1000
  group by 1, 2`

/**
 * Compares the directory with the members of all databases, which are given by slot: every member of another slot than 0
 * has one entry that is held, and a reserved one for each former address that an undo may restore.
 */
export const findDirectoryProblems = async (slots: D1Database[], addressKey: string) => {
  const [directory] = slots
  if (!directory) throw new Error('There is no database')
  const problems: string[] = []
  type Member = { memberId: number; email: string }
  const members = await Promise.all(slots.map((database) => selectFrom<Member>(database, MEMBERS)))
  type Undo = Member & { expiresAt: number }
  const undos = await Promise.all(slots.map((database) => selectFrom<Undo>(database, UNDOS)))
  const emails = [...members.flat(), ...undos.flat()].map(({ email }) => email)
  for (const [email, { length }] of Map.groupBy(emails, (email) => email)) {
    if (length > 1) problems.push(`${length} members have ${email}`)
  }
  const entries = await selectFrom<{
    hash: string
    memberId: number
    slot: number
    state: string
    settleAt: number | null
  }>(directory, 'select hex(addressHash) as hash, memberId, slot, state, settleAt from addresses')
  const describe = (hash: string, memberId: number, slot: number, state: string) =>
    `${hash}: member ${memberId} of slot ${slot}, ${state}`
  const expected = new Set<string>()
  for (const [slot, rows] of members.entries()) {
    if (slot === 0) continue
    for (const { memberId, email } of rows) {
      expected.add(describe(await hashAddress(addressKey, email), memberId, slot, 'HELD'))
    }
    for (const { memberId, email, expiresAt } of undos[slot] ?? []) {
      expected.add(describe(await hashAddress(addressKey, email), memberId, slot, `RESERVED until ${expiresAt}`))
    }
  }
  const found = new Set(
    entries.map(({ hash, memberId, slot, state, settleAt }) =>
      describe(hash, memberId, slot, state === 'RESERVED' ? `RESERVED until ${settleAt}` : state),
    ),
  )
  for (const entry of found.difference(expected)) problems.push(`without a member: ${entry}`)
  for (const entry of expected.difference(found)) problems.push(`missing: ${entry}`)
  return problems
}
