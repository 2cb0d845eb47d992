import * as z from 'zod/mini'
import { empty, type FeatureReference, json, WELL_FORMED } from '../../http/description/feature-reference'
import { BookStatus } from '../../library/books/schema'
import { MAX_YEAR, MIN_YEAR } from '../../library/stats/schema'
import { MAX_LABEL, MAX_TAG } from '../../values/contract'
import { int } from '../../values/fields'
import { namedObject } from '../../values/named'
import { Instant, listUpTo, textUpTo } from '../../values/responses'
import { LinkKind, MAX_LINKS } from './schema'

const fields = {
  linkId: z.uuid(),
  name: textUpTo(MAX_LABEL),
  kind: LinkKind,
  bookStatus: z.nullable(BookStatus),
  tag: z.nullable(textUpTo(MAX_TAG)),
  year: z.nullable(int(MIN_YEAR, MAX_YEAR)),
  showName: z.boolean(),
  createdAt: Instant,
}

/** The only response with the address. */
export const CreatedLink = namedObject('CreatedLink', { ...fields, url: z.url() })
export type CreatedLink = z.infer<typeof CreatedLink>

export const Link = namedObject('Link', { ...fields, lastUsedAt: z.nullable(z.iso.date()) })
export type Link = z.infer<typeof Link>

export const linksReference: FeatureReference = {
  tag: 'Links',
  schemas: {
    CreatedLink: 'A new link.',
    Link: 'A link.',
    LinkKind:
      'What a link shows.\n\n- `SHELF`: books, with rating and dates, without memos\n- `MEMOS`: all `PUBLIC` memos, including earlier ones, with title and author of the book\n- `CALENDAR`: readings that were finished on a known day, as events of a calendar\n- `YEAR`: the picture of a year, with the hours read, and on its page the title, author and month of each finish',
    LinkPatch: 'The fields of a link to change.',
    NewLink: 'A link to create.',
  },
  ownProperties: {
    bookStatus: 'Shows only books of this status. Null for all. Only for the kind `SHELF`.',
    kind: 'What the link shows.',
    lastUsedAt: 'The UTC day on which the link was last used, as `yyyy-MM-dd`. Null if never.',
    linkId: 'Identifier of the link. It is not part of the address.',
    name: 'The name of the link. Visitors see it.',
    'NewLink.name': `The name of the link, which is the title of its page. Names need not be unique. ${WELL_FORMED}.`,
    'LinkPatch.name': `The new name. ${WELL_FORMED}.`,
    showName: 'Whether pages and feeds of the link, and its JSON, contain your current name. False unless it was sent.',
    tag: 'Shows only books with this tag. Null for all. Only for the kind `SHELF`.',
    'Link.year': 'The year of the picture. Null unless the kind is `YEAR`.',
    'CreatedLink.year': 'The year of the picture. Null unless the kind is `YEAR`.',
    'NewLink.tag':
      'Shows only books with this tag, which you must have. The link follows the tag when it is renamed, and keeps it while no book has it. It ends when you delete the tag, or merge it into another one. Only for the kind `SHELF`.',
    url: 'The address of the link. Store it: no other response contains it, as the service stores only a hash.',
    year: 'The year of the picture. Required for the kind `YEAR`, and only for that one.',
  },
  parameters: { 'link-id': 'Identifier of the link.' },
  operations: {
    'POST /links': {
      operationId: 'createLink',
      summary: 'Create a link',
      description:
        'Anyone with the address can see what the link shows, without an account; see `showLink`. A member may have ' +
        `${MAX_LINKS} links. A link ends when you ` +
        'delete it, with its tag or your account, after a password reset, and when a former e-mail address is restored; not ' +
        'when the password changes or the access token that created it ends. An `Idempotency-Key` has no effect. You are ' +
        'informed by mail, at most once an hour, of new links and access tokens together.',
      responses: { 201: json(CreatedLink, 'The new link') },
      errors: ['TAG_NOT_FOUND', 'MAX_LINKS'],
    },
    'GET /links': {
      operationId: 'listLinks',
      summary: 'List your links',
      description:
        'Newest first, without their addresses: only hashes of them are stored, so that a thief with a session learns none. ' +
        'Create another link for another device.',
      responses: { 200: json(listUpTo(MAX_LINKS, Link), 'Your links') },
    },
    'PATCH /links/{link-id}': {
      operationId: 'updateLink',
      summary: 'Rename a link, or show or hide your name',
      description: 'The address stays the same, and so does what is not sent.',
      responses: { 200: json(Link, 'The link') },
    },
    'DELETE /links/{link-id}': {
      operationId: 'deleteLink',
      summary: 'Delete a link',
      description: 'It stops working immediately. A second deletion returns 404.',
      responses: { 204: empty('Deleted') },
    },
  },
}
