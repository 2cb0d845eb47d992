import type { R2Bucket } from '@cloudflare/workers-types'
import { LOCATION_OPTIONS, type OpenSlot, readLocation, type Settings } from '../data/stores.ts'
import { failWithUsage, parseOptions } from '../options.ts'
import { CHANGES } from './changes.ts'
import { findMembers } from './find.ts'
import { invite } from './invite.ts'
import { listLog, recordAndApply } from './log.ts'
import { READS } from './reads.ts'
import { findShared, isUrl, type Shared } from './shared.ts'

const USAGE = `npm run members -- COMMAND EMAIL|ID|URL [QUOTA=N …|LINK] [--dry-run] [--local [--persist-to DIR] | --remote]
  invite        prints a code with which the address can sign up within a week, also if SIGN_UP=invited; needs JWT_SECRET
  find          lists the members who have the address, or the identifier; of the URL of a link or an image, or its path, also what it shows
  take-down     deletes what the URL of a link or an image shows: --reason TEXT, which the log keeps; needs PUBLIC_URL
  show          prints what is stored about the account, and how much of each limit it has used
  usage         prints what the member stores, and the quotas
  links         lists the links
  delete-link   deletes the link with the linkId that links prints
  end-sessions  ends all sessions, access tokens and links
  block         keeps the member out, until unblock: sessions, access tokens and links are set aside
  quota         sets quotas of the member: MAX_BOOKS, MAX_MEMBER_TEXT_BYTES, MAX_MEMBER_IMAGE_BYTES; null: the service's
  unlock        forgets attempts: failed logins, tried codes, requested mails, exports, lookups, files; needs JWT_SECRET
  export        writes what GET /export returns to the member: --out FILE; --force replaces an earlier export
  delete        withdraws the member, as DELETE /members/me does
  log [ID]      prints what operators did
  --dry-run     says what a command would change`

const flag = { type: 'boolean', default: false } as const
const options = {
  ...LOCATION_OPTIONS,
  'dry-run': flag,
  out: { type: 'string' },
  reason: { type: 'string' },
  force: flag,
} as const

const TAKE_DOWN = 'take-down'
/** Part of the key of an object, of at most 1,024 bytes. */
const REASON = /^[^\p{Cc}\p{Cf}\u2028\u2029]{1,200}$/u

/** Reads the arguments of a command. Exits with a usage message if they are wrong. */
export const readCommand = (args: string[]) => {
  const { values: flags, positionals } = parseOptions({ args, options, allowPositionals: true }, USAGE)
  const [name = '', who = '', ...others] = positionals
  const isKnown = CHANGES.has(name) || READS.has(name) || ['find', 'invite', TAKE_DOWN].includes(name)
  if (
    (others.length > 0 && name !== 'quota' && name !== 'delete-link') ||
    (name === 'log' ? who && !/^\d+$/.test(who) : !who || !isKnown) ||
    (name === TAKE_DOWN ? !isUrl(who) : isUrl(who) && name !== 'find')
  )
    failWithUsage(USAGE)
  return { name, who, others, flags, location: readLocation(flags, USAGE) }
}

const toLine = ({ email, memberId, slot }: Shared['member']) => `${memberId} ${email} slot ${slot}`

type TakeDown = { isDry: boolean; reason: string; settleMs: number }

const takeDown = async (stores: Stores, shared: Shared, { isDry, reason, settleMs }: TakeDown) => {
  if (!REASON.test(reason))
    throw new Error('Add --reason: one line of at most 200 characters, without names or addresses, such as "report 12"')
  const { member, what, description, others, remove } = shared
  const line = `${TAKE_DOWN} ${member.memberId}: ${description}`
  if (isDry) return [`${line} (dry run)`, ...others]
  const action = `${TAKE_DOWN} ${what} ${reason}`
  await recordAndApply(stores, { action, memberId: member.memberId, apply: () => remove(settleMs) })
  return [line, ...others]
}

type Stores = { slots: OpenSlot[]; bucket: R2Bucket; settings: Settings }

/**
 * Runs a command, and returns what to print.
 * @param settleMs how long a running upload may take
 * @throws Error if there is no such member, or a value is wrong
 */
export const runCommand = async (
  { name, who, others, flags, location }: ReturnType<typeof readCommand>,
  { slots, bucket, settings }: Stores,
  settleMs = 0,
) => {
  if (name === 'log') return listLog(slots, who)
  const known = { ...(!location.remote && { PUBLIC_URL: 'http://localhost:8787' }), ...settings }
  if (name === 'invite') return invite({ slots, bucket, settings: known }, who, { isDry: flags['dry-run'] })
  if (isUrl(who)) {
    const shared = await findShared({ slots, bucket, settings, isLocal: !location.remote }, who)
    if (name === 'find') return [toLine(shared.member), shared.description, ...shared.others]
    const options = { isDry: flags['dry-run'], reason: flags.reason ?? '', settleMs }
    return takeDown({ slots, bucket, settings }, shared, options)
  }
  const members = await findMembers(slots, who)
  if (members.length === 0) throw new Error(`No member has ${/@/.test(who) ? 'the address' : 'the identifier'} ${who}`)
  if (name === 'find') return members.map(toLine)
  const [member, another] = members
  if (!member || another) throw new Error(`Several members have the address: use an identifier of \`find\``)
  const target = { slots, bucket, settings: known, ...member }
  const read = READS.get(name)
  if (read) return [await read(target)]
  const { changes, apply } = (await CHANGES.get(name)?.(target, { ...flags, values: others })) ?? failWithUsage(USAGE)
  const line = `${name} ${member.memberId}: ${changes}`
  if (flags['dry-run']) return [`${line} (dry run)`]
  const action = [name, ...others].join(' ')
  await recordAndApply({ slots, bucket }, { action, memberId: member.memberId, apply })
  return [line]
}
