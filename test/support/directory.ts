import { hashAddress } from '../../src/keyed-hash'

const selectFrom = async <Row>(database: D1Database, query: string) =>
  (await database.prepare(query).all<Row>()).results
const MEMBERS = 'select memberId, lower(email) as email from members where withdrawnAt is null'

/**
 * Compares the directory with the members of all databases, which are given by slot: every member of another slot than 0
 * has one entry, which is held.
 */
export const findDirectoryProblems = async (slots: D1Database[], addressKey: string) => {
  const [directory] = slots
  if (!directory) throw new Error('There is no database')
  const problems: string[] = []
  type Member = { memberId: number; email: string }
  const members = await Promise.all(slots.map((database) => selectFrom<Member>(database, MEMBERS)))
  const emails = members.flat().map(({ email }) => email)
  for (const [email, { length }] of Map.groupBy(emails, (email) => email)) {
    if (length > 1) problems.push(`${length} members have ${email}`)
  }
  const entries = await selectFrom<{ hash: string; memberId: number; slot: number; state: string }>(
    directory,
    'select hex(addressHash) as hash, memberId, slot, state from addresses',
  )
  const describe = (hash: string, memberId: number, slot: number) => `${hash}: member ${memberId} of slot ${slot}, HELD`
  const expected = new Set<string>()
  for (const [slot, rows] of members.entries()) {
    if (slot === 0) continue
    for (const { memberId, email } of rows) expected.add(describe(await hashAddress(addressKey, email), memberId, slot))
  }
  const found = new Set(
    entries.map(({ hash, memberId, slot, state }) => `${hash}: member ${memberId} of slot ${slot}, ${state}`),
  )
  for (const entry of found.difference(expected)) problems.push(`without a member: ${entry}`)
  for (const entry of expected.difference(found)) problems.push(`missing: ${entry}`)
  return problems
}
