import { env } from 'cloudflare:workers'
import { idRange } from '../../src/db/next-id'
import { hashAddress } from '../../src/keyed-hash'
import { insertMemberRow, signToken } from './tokens'

/** Adds a member in slot 1 of the databases of the tests, with an entry in the directory and a token. */
export const insertMemberInSlot1 = async (
  database: D1Database,
  secret: string,
  email: string,
  passwordHash?: string,
) => {
  const next = env.DB.prepare(`
    insert into slotCounters values (1, ?1) on conflict do update set lastClaimId = lastClaimId + 1
    returning lastClaimId`)
  const memberId = Number(await next.bind(idRange(1).idFloor + 1).first('lastClaimId'))
  const hold = env.DB.prepare(`insert into addresses values (unhex(?1), ?2, 1, ?2, 'HELD', null)`)
  await hold.bind(await hashAddress(env.ADDRESS_KEY ?? '', email), memberId).run()
  await insertMemberRow(database, email, passwordHash, memberId)
  return { email, memberId, token: await signToken(memberId, secret, 1) }
}
