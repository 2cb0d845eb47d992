import * as z from 'zod/mini'
import { empty, type FeatureReference, json } from '../../http/description/feature-reference'
import { ACTIVITY_KINDS } from '../../values/contract'
import { named, namedObject } from '../../values/named'
import { Instant, listUpTo, textUpTo } from '../../values/responses'
import { Profile } from '../members/responses'
import { MAX_ENTRIES, MAX_SESSIONS } from './schema'

const Device = z.nullable(textUpTo(64))
const Country = z.nullable(z.string().check(z.regex(/^[A-Z]{2}$/)))

export const Session = namedObject('Session', {
  sessionId: z.uuid(),
  createdAt: Instant,
  renewedAt: Instant,
  expiresAt: Instant,
  device: Device,
  country: Country,
  current: z.boolean(),
})
export type Session = z.infer<typeof Session>

export const Activity = namedObject('Activity', {
  at: Instant,
  firstAt: Instant,
  count: z.int().check(z.minimum(1)),
  kind: named('ActivityKind', z.enum(ACTIVITY_KINDS)),
  device: Device,
  country: Country,
})
export type Activity = z.infer<typeof Activity>

export const sessionsReference: FeatureReference = {
  tag: 'Sessions',
  schemas: {
    Activity: 'An entry in the activity of an account.',
    ActivityKind:
      'What happened.\n\n- `LOGIN`: a login\n- `LOGIN_FAILED`: a wrong password, at a login or to confirm a change\n- `SESSION_ENDED`: one or more sessions were ended\n- `PASSWORD_CHANGED`: the password was changed\n- `PASSWORD_RESET`: the password was reset with a mailed code\n- `EMAIL_CHANGED`: the e-mail address was changed\n- `EMAIL_RESTORED`: a change of e-mail address was undone\n- `TOKEN_CREATED`: an access token was created\n- `TOKEN_DELETED`: an access token was deleted\n- `LINK_CREATED`: a link was created\n- `LINK_DELETED`: a link was deleted',
    Session: 'A login that has not ended.',
  },
  properties: {
    at: 'When it happened last.',
    count: 'How often it happened.',
    country: 'Country of the request, as an ISO 3166-1 code of two letters. Null if unknown.',
    createdAt: 'When you logged in.',
    current: 'Whether this request was made with a token of the session.',
    device: 'Browser and operating system, or the name of the client, from its `User-Agent`. Null if unknown.',
    expiresAt: 'When it expires, unless it is renewed before.',
    firstAt: 'When it happened first.',
    kind: 'What happened.',
    renewedAt: 'When it was last renewed. The time of the login if never.',
    sessionId: 'Identifier of the session.',
  },
  parameters: { 'session-id': 'Identifier of the session.' },
  operations: {
    'POST /logout': {
      operationId: 'logOut',
      summary: 'Log out',
      description: 'Ends your session. All its tokens stop working immediately, including renewed ones.',
      responses: { 204: empty('Logged out') },
    },
    'GET /sessions': {
      operationId: 'listSessions',
      summary: 'List your sessions',
      description:
        'Newest first. Each login creates a session. A member has at most a hundred: a further login ends the oldest.',
      responses: { 200: json(listUpTo(MAX_SESSIONS, Session), 'Your sessions') },
    },
    'DELETE /sessions': {
      operationId: 'endOtherSessions',
      summary: 'End all other sessions',
      description: 'Logs all other devices out immediately. Access tokens stay valid: `deleteTokens` ends them.',
      responses: { 204: empty('Ended') },
    },
    'POST /sessions/renew': {
      operationId: 'renewSession',
      summary: 'Renew your session',
      description:
        'Returns a fresh token in the `Authorization` response header, like a login. The old token stays valid until it ' +
        'expires. A session can be renewed for at most a year after its login; then its last token expires.',
      responses: { 200: json(Profile, 'The member; the token is in a header', 'Authorization') },
    },
    'DELETE /sessions/{session-id}': {
      operationId: 'endSession',
      summary: 'End a session',
      description: 'Logs that device out immediately. You can also end your current session.',
      responses: { 204: empty('Ended') },
    },
    'GET /members/me/activity': {
      operationId: 'listActivity',
      summary: 'List the activity of your account',
      description:
        'The last 90 days, newest first: logins, ended sessions, and changes of password, e-mail address and access ' +
        'tokens. Repeats from the same device and country on the same UTC day are one entry. Beyond five such entries ' +
        'of a kind on a day, further ones are merged into one without device and country. Failed logins are not ' +
        'merged: at most twenty a day are listed, and 500 in all.',
      responses: { 200: json(listUpTo(MAX_ENTRIES, Activity), 'The entries') },
    },
  },
}
