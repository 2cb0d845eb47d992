import { hashAddress } from '../../src/auth/keyed-hash'
import { idRange } from '../../src/db/next-id'
import { insertMember, insertMemberRow, signToken } from './tokens'

/** The database in which members are, and the one with the directory of addresses: the same for slot 0. */
export type Home = { slot: number; database: D1Database; directory: D1Database; addressKey: string }

const nextMemberId = async (directory: D1Database, slot: number) => {
  const next = directory.prepare(`
    insert into slotCounters (slot, lastClaimId) values (?1, ?2)
    on conflict (slot) do update set lastClaimId = lastClaimId + 1 returning lastClaimId`)
  return Number(await next.bind(slot, idRange(slot).idFloor + 1).first('lastClaimId'))
}

/** Adds a member of any slot, with a token and, unless it is slot 0, an entry in the directory. */
export const insertMemberAt = async (home: Home, secret: string, email: string, passwordHash?: string) => {
  const { slot, database, directory, addressKey } = home
  if (slot === 0) return insertMember(database, secret, email, passwordHash)
  const memberId = await nextMemberId(directory, slot)
  const entry = directory.prepare(`
    insert into addresses (addressHash, memberId, slot, claimId, state) values (unhex(?1), ?2, ?3, ?2, 'HELD')`)
  await entry.bind(await hashAddress(addressKey, email), memberId, slot).run()
  await insertMemberRow(database, email, passwordHash, memberId)
  return { email, memberId, token: await signToken(memberId, secret, slot) }
}
