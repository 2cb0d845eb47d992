import * as z from 'zod/mini'
import { HINT_LENGTH } from '../../auth/access-token'
import { empty, type FeatureReference, json, WELL_FORMED } from '../../http/description/feature-reference'
import { MAX_LABEL } from '../../values/contract'
import { namedObject } from '../../values/named'
import { Instant, listUpTo, textUpTo } from '../../values/responses'
import { MAX_TOKENS, NAMES, Scope } from './schema'

const fields = {
  tokenId: z.uuid(),
  name: textUpTo(MAX_LABEL),
  scopes: listUpTo(NAMES.length, Scope),
  createdAt: Instant,
  expiresAt: z.nullable(Instant),
  startsBooks: z.boolean(),
}

/** What to type on a device. */
const DeviceAddresses = namedObject('DeviceAddresses', {
  username: z.string(),
  koreader: z.url(),
  webdav: z.url(),
  readwise: z.url(),
  moonReader: z.url(),
})

/** The only response with the token itself. */
export const CreatedToken = namedObject('CreatedToken', {
  ...fields,
  token: z.string().check(z.regex(/^(?:rl_[\dA-Za-z]{36}|rld[2-9a-z]{27})$/)),
  addresses: z.nullable(DeviceAddresses),
})
export type CreatedToken = z.infer<typeof CreatedToken>

export const AccessToken = namedObject('AccessToken', {
  ...fields,
  hint: textUpTo(HINT_LENGTH),
  lastUsedAt: z.nullable(z.iso.date()),
})
export type AccessToken = z.infer<typeof AccessToken>

export const tokensReference: FeatureReference = {
  tag: 'Access tokens',
  schemas: {
    AccessToken: 'An access token, without the token itself.',
    DeviceAddresses: 'What to type on a device, beside the token, which is the password there.',
    CreatedToken: 'A new access token. No other response contains the token itself.',
    NewToken: 'An access token to create.',
    Scope: 'What an access token may do. The introduction describes each scope.',
  },
  properties: {
    addresses: 'What to type on a device. Null if the token is not for a device.',
    'DeviceAddresses.koreader': 'The custom sync server of KOReader, Readest and CrossPoint.',
    'DeviceAddresses.moonReader': 'The address for highlights of Moon+ Reader.',
    'DeviceAddresses.readwise': 'The address of the Readwise API, in apps in which it can be set, such as Readest.',
    'DeviceAddresses.username': 'The user name, wherever the device asks for one.',
    'DeviceAddresses.webdav': 'The WebDAV folder to which KOReader uploads exports.',
    expiresAt: 'When it expires. Null if never.',
    'NewToken.expiresAt':
      'When the token expires: a future time in RFC 3339 format, with `Z` or an offset. Fractions of a second are dropped. Never if null or absent.',
    hint: 'The first characters of the token, by which you can recognize it.',
    lastUsedAt: 'The UTC day on which the token was last used, as `yyyy-MM-dd`. Null if never.',
    name: 'The name that you gave the token.',
    'NewToken.name': `What the token is for. Names need not be unique. ${WELL_FORMED}.`,
    scopes: 'What the token may do.',
    'NewToken.scopes': 'What the token may do: at least one scope, without repetition.',
    startsBooks: 'Whether progress of the device changes a book from `YET` to `ING`.',
    'NewToken.startsBooks':
      'Whether progress of the device changes a book from `YET` to `ING`. Only for the token of a device. Cannot be changed later. False if absent.',
    token: 'The token. Store it safely: it cannot be read again.',
    tokenId: 'Identifier of the access token.',
  },
  parameters: { 'token-id': 'Identifier of the access token.' },
  operations: {
    'POST /tokens': {
      operationId: 'createToken',
      summary: 'Create an access token',
      description:
        'For a script or an app that needs only part of your account, or for a reading device: with `intake:write` and, to ' +
        'continue where other devices stopped, `intake:read`. Show `token` and `addresses` until they are typed on the device: no ' +
        `other response contains them, and the service stores only a hash. A member may have ${MAX_TOKENS} tokens, not counting ` +
        'expired ones. Name and scopes cannot be changed. You are informed by mail, at most once an hour.',
      responses: { 201: json(CreatedToken, 'The new access token') },
      errors: ['MAX_TOKENS'],
    },
    'GET /tokens': {
      operationId: 'listTokens',
      summary: 'List your access tokens',
      description:
        'Newest first, without the tokens themselves. Those of devices have the scope `intake:write` or `intake:read`. Expired ones are not listed.',
      responses: { 200: json(listUpTo(MAX_TOKENS, AccessToken), 'Your access tokens') },
    },
    'DELETE /tokens': {
      operationId: 'deleteTokens',
      summary: 'Delete all access tokens',
      description:
        'All of them stop working immediately. If someone else had access to your account, also change the password.',
      responses: { 204: empty('Deleted') },
    },
    'DELETE /tokens/{token-id}': {
      operationId: 'deleteToken',
      summary: 'Delete an access token',
      description: 'It stops working immediately. What a device has sent with it stays. A second deletion returns 404.',
      responses: { 204: empty('Deleted') },
    },
  },
}
