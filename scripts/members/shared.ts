import type { R2Bucket } from '@cloudflare/workers-types'
import { hashToken, readLinkSecret } from '../../src/auth/access-token.ts'
import type { LinkKind } from '../../src/values/contract.ts'
import type { OpenSlot, Settings } from '../data/stores.ts'
import { printable } from '../print.ts'
import { queryAll } from '../slots/compare.ts'
import { toAside } from './block.ts'
import { findMembers, type Member } from './find.ts'
import { findReferences, keyOf, removeImage, removeLink } from './take-down.ts'

/** `isLocal`: whether the service runs on this machine. */
type Stores = { slots: OpenSlot[]; bucket: R2Bucket; settings: Settings; isLocal: boolean }

/** What an address shows to everyone who has it. */
export type Shared = {
  member: Member
  /** For the log: what it is, and its identifier. */
  what: string
  /** For a person. */
  description: string
  /** The member's other links, which can show the same, a line each. */
  others: string[]
  /** `settleMs`: as in `removeImage`. */
  remove: (settleMs: number) => Promise<unknown>
}

/** Whether it is a URL or its path, and no e-mail address or identifier. */
export const isUrl = (text: string) => /^(?:https?:\/\/|\/(?![/\\]))/i.test(text)

const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]']

/**
 * The path of a URL of the service, or of one without a host.
 * @throws Error if it is that of another service, on which the same path can show something else
 */
const pathOf = (url: string, { settings, isLocal }: Stores) => {
  if (url.startsWith('/')) return url.replace(/[?#].*/s, '')
  const bases = [settings.PUBLIC_URL, settings.IMAGE_BASE_URL].map(String).filter((base) => URL.canParse(base))
  const hosts = bases.map((base) => new URL(base).host)
  const { host, hostname, pathname } = new URL(url)
  const isOwn = hosts.includes(host) || (isLocal && [...LOCAL_HOSTS, settings.HOST].includes(hostname))
  if (isOwn) return pathname
  const expected = isLocal ? [...hosts, 'localhost'] : hosts
  throw new Error(
    expected.length > 0
      ? `${host} is not the host of this service (${expected.join(', ')}): if it is, too, give only the path, ${pathname}`
      : `Set PUBLIC_URL in the environment to that of the deployment, or give only the path, ${pathname}`,
  )
}

// What precedes these paths depends on the deployment. Feeds, calendars and pictures of links have a suffix.
const LINK_PATH = /\/l\/([\dA-Za-z]{39})(?:\.[a-z]+){0,2}\/?$/
const IMAGE_PATH = /\/images\/([1-9]\d{0,15})\/([\w-]{22}\.(?:png|jpg|gif|webp))$/

type Link = {
  memberId: number
  email: string
  linkId: string
  name: string
  kind: LinkKind
  bookStatus: string | null
  tag: string | null
  year: number | null
  showName: number
}
/** All links of the member who has the named one, which is the first. Those of blocked members come back with `unblock`. */
const selectLinks = `
  with named as (select tokenId, memberId from accessTokens where tokenHash in (?1, ?2) and kind is not null)
  select memberId, email, tokenId as linkId, accessTokens.name, kind, bookStatus, (
    select tag from tags where tags.memberId = accessTokens.memberId and tags.tagId = accessTokens.tagId
  ) as tag, year, showName
  from accessTokens join members using (memberId)
  where memberId = (select memberId from named) and kind is not null
  order by tokenId = (select tokenId from named) desc, accessTokens.createdAt desc, tokenId`

const describeShown = ({ kind, bookStatus, tag, year }: Link) => {
  if (kind === 'YEAR') return `the page and the picture of ${year}`
  if (kind === 'MEMOS') return 'all memos that are PUBLIC'
  if (kind !== 'SHELF') return 'finished books, by date'
  const status = bookStatus ? ` with the status ${bookStatus}` : ''
  return `books${status}${tag === null ? '' : ` with the tag ${JSON.stringify(tag)}`}`
}

const describeLink = (link: Link) =>
  `link ${link.linkId} (${printable(link.name)}): shows ${describeShown(link)}${link.showName ? ', with the name of the member' : ''}`

const findLink = async ({ slots }: Stores, secret: string): Promise<Shared> => {
  const named = readLinkSecret(secret)
  if (!named) throw new Error('The address of this link has a typo: its checksum is wrong')
  const { slot } = named
  const database = slots.find((each) => each.slot === slot)?.database
  const hash = await hashToken(secret)
  const [link, ...others] = database ? await queryAll<Link>(database, selectLinks, hash, toAside(hash)) : []
  if (!database || !link) throw new Error('No link has this address: it has ended, or is of another service')
  const { memberId, email, linkId } = link
  return {
    member: { memberId, email, slot, database },
    what: `link ${linkId}`,
    description: describeLink(link),
    others: others.map((each) => `also ${describeLink(each)}`),
    remove: () => removeLink(database, memberId, linkId),
  }
}

const describeReferences = ({ memos, books }: Awaited<ReturnType<typeof findReferences>>) => {
  const lists = { memos, 'covers of books': books }
  const parts = Object.entries(lists).filter(([, ids]) => ids.length > 0)
  return parts.length > 0
    ? `in ${parts.map(([what, ids]) => `${what} ${ids.join(', ')}`).join('; ')}`
    : 'in no memo or cover'
}

const findImage = async ({ slots, bucket, settings }: Stores, id: string, name: string): Promise<Shared> => {
  const none = new Error('There is no such image: it has been deleted, or is of another service')
  const [member] = await findMembers(slots, id)
  if (!member && (await bucket.head(keyOf({ memberId: Number(id), name }))))
    throw new Error('The member of this image has withdrawn: the next sweep deletes it')
  if (!member) throw none
  const target = { ...member, bucket, name, timeZone: String(settings.TIME_ZONE || 'UTC') }
  const object = await bucket.head(keyOf(target))
  const references = await findReferences(target)
  if (!object && references.memos.length + references.books.length === 0) throw none
  const about = object
    ? `${object.httpMetadata?.contentType}, ${object.size} bytes, of ${object.uploaded.toISOString()}`
    : 'deleted'
  return {
    member,
    what: `image ${name}`,
    description: `image ${name} (${about}): ${describeReferences(references)}`,
    others: [],
    remove: (settleMs) => removeImage(target, settleMs),
  }
}

/**
 * Finds what a URL of the service, or its path, shows: that of a link, with any suffix, or of an image.
 * @throws Error if it is neither, shows nothing, or is of another service
 */
export const findShared = async (stores: Stores, url: string): Promise<Shared> => {
  if (!url.startsWith('/') && !URL.canParse(url)) throw new Error(`${url} is not a URL`)
  const pathname = pathOf(url, stores)
  const [, secret] = LINK_PATH.exec(pathname) ?? []
  if (secret) return findLink(stores, secret)
  const [, id, name] = IMAGE_PATH.exec(pathname) ?? []
  if (id && name) return findImage(stores, id, name)
  throw new Error('Neither the URL of a link (…/l/…) nor of an image (…/images/…)')
}
