import type { R2Bucket } from '@cloudflare/workers-types'
import { LOCATION_OPTIONS, type OpenSlot, readLocation, type Settings } from '../data/stores.ts'
import { failWithUsage, parseOptions } from '../options.ts'
import { CHANGES } from './changes.ts'
import { findMembers } from './find.ts'
import { invite } from './invite.ts'
import { listLog, recordAction } from './log.ts'
import { READS } from './reads.ts'

const USAGE = `npm run members -- COMMAND EMAIL|ID [QUOTA=N …|LINK] [--dry-run] [--local [--persist-to DIR] | --remote]
  invite        prints a code with which the address can sign up within a week, also if SIGN_UP=invited; needs JWT_SECRET
  find          lists the members who have the address, or the identifier
  show          prints what is stored about the account
  usage         prints what the member stores, and the quotas
  links         lists the links
  delete-link   deletes the link with the linkId that links prints
  end-sessions  ends all sessions, access tokens and links
  block         keeps the member out, until unblock: sessions, access tokens and links are set aside
  quota         sets quotas of the member: MAX_BOOKS, MAX_MEMBER_TEXT_BYTES, MAX_MEMBER_IMAGE_BYTES; null: the service's
  unlock        forgets failed logins, tried codes and requested mails; needs JWT_SECRET
  export        writes what GET /export returns to the member: --out FILE; --force replaces an earlier export
  delete        withdraws the member, as DELETE /members/me does
  log [ID]      prints what operators did
  --dry-run     says what a command would change`

const flag = { type: 'boolean', default: false } as const
const options = { ...LOCATION_OPTIONS, 'dry-run': flag, out: { type: 'string' }, force: flag } as const

/** Reads the arguments of a command. Exits with a usage message if they are wrong. */
export const readCommand = (args: string[]) => {
  const { values: flags, positionals } = parseOptions({ args, options, allowPositionals: true }, USAGE)
  const [name = '', who = '', ...others] = positionals
  const isKnown = CHANGES.has(name) || READS.has(name) || name === 'find' || name === 'invite'
  if (
    (others.length > 0 && name !== 'quota' && name !== 'delete-link') ||
    (name === 'log' ? who && !/^\d+$/.test(who) : !who || !isKnown)
  )
    failWithUsage(USAGE)
  return { name, who, others, flags, location: readLocation(flags, USAGE) }
}

type Stores = { slots: OpenSlot[]; bucket: R2Bucket; settings: Settings }

/**
 * Runs a command, and returns what to print.
 * @throws Error if there is no such member, or a value is wrong
 */
export const runCommand = async (
  { name, who, others, flags, location }: ReturnType<typeof readCommand>,
  { slots, bucket, settings }: Stores,
) => {
  if (name === 'log') return listLog(slots, who)
  const known = { ...(!location.remote && { PUBLIC_URL: 'http://localhost:8787' }), ...settings }
  if (name === 'invite') return invite({ slots, bucket, settings: known }, who, { isDry: flags['dry-run'] })
  const members = await findMembers(slots, who)
  if (members.length === 0) throw new Error(`No member has ${/@/.test(who) ? 'the address' : 'the identifier'} ${who}`)
  if (name === 'find') return members.map(({ email, memberId, slot }) => `${memberId} ${email} slot ${slot}`)
  const [member, another] = members
  if (!member || another) throw new Error(`Several members have the address: use an identifier of \`find\``)
  const target = { slots, bucket, settings: known, ...member }
  const read = READS.get(name)
  if (read) return [await read(target)]
  const { changes, apply } = (await CHANGES.get(name)?.(target, { ...flags, values: others })) ?? failWithUsage(USAGE)
  const line = `${name} ${member.memberId}: ${changes}`
  if (flags['dry-run']) return [`${line} (dry run)`]
  // First, so that there is no change without an entry.
  await recordAction(slots, bucket, [name, ...others].join(' '), member.memberId)
  await apply()
  return [line]
}
