import { confirmMarks, isOtherKey, markSlots, type Query, readKeyCheck } from '../slots/marks.ts'
import type { Slot } from '../slots/table.ts'
import { DeployError, type Host, runWrangler } from './host.ts'

const HELP = 'see "A lost slot or key" in docs/operations.md'

const toQuery =
  (host: Host, slots: Slot[], configPath: string[]): Query =>
  async (slot, sql) => {
    const binding = slots.find((each) => each.slot === slot)?.binding ?? ''
    const args = ['d1', 'execute', binding, '--remote', '--json', '--command', sql, ...configPath]
    const [result] = JSON.parse((await runWrangler(host, args)).stdout)
    return result.results
  }

/** @throws DeployError if the directory has another key than the one to be uploaded */
const checkKey = async (query: Query, addressKey: string | undefined, isGenerated: boolean) => {
  const { check, hasEntries } = await readKeyCheck(query)
  if (isGenerated && (check || hasEntries))
    throw new DeployError(`ADDRESS_KEY is missing, but the directory of addresses has one: set it, or ${HELP}`)
  if (addressKey && (await isOtherKey(query, addressKey)))
    throw new DeployError(`ADDRESS_KEY is not the key of the directory of addresses: ${HELP}`)
}

/**
 * Checks that every database is the one of its slot, marks new ones, and checks the key of the directory.
 * @param addressKey the one to be uploaded, if it is known
 * @param isGenerated whether a new one will be generated
 * @returns a function to be called after the upload
 * @throws DeployError if a slot or the key is lost
 */
export const checkMarks = async (
  host: Host,
  slots: Slot[],
  configPath: string[],
  { addressKey, isGenerated }: { addressKey?: string | undefined; isGenerated: boolean },
) => {
  const query = toQuery(host, slots, configPath)
  if (addressKey || isGenerated) await checkKey(query, addressKey, isGenerated)
  const { lost, unconfirmed } = await markSlots(
    query,
    slots.map(({ slot }) => slot),
  )
  if (lost.length > 0) throw new DeployError(...lost, `A slot is lost: ${HELP}`)
  return () => confirmMarks(query, unconfirmed)
}
