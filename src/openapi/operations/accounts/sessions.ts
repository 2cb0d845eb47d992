import * as z from 'zod/mini'
import { Profile } from '../../../accounts/members/responses'
import { MAX_ENTRIES } from '../../../accounts/sessions/activity'
import { Activity, Session } from '../../../accounts/sessions/responses'
import { MAX_SESSIONS } from '../../../accounts/sessions/schema'
import { empty, json, type Operations } from '../operation'

export const sessionsOperations: Operations = {
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
    responses: { 200: json(z.array(Session).check(z.maxLength(MAX_SESSIONS)), 'Your sessions') },
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
      'expires. A session can be renewed for at most 90 days after its login; then its last token expires.',
    responses: { 200: json(Profile, 'The member; the token is in a header', 'Authorization') },
  },
  'DELETE /sessions/{session-id}': {
    operationId: 'endSession',
    summary: 'End a session',
    description: 'Logs that device out immediately. You can also end your current session.',
    responses: { 204: empty('Ended') },
    errors: ['SESSION_NOT_FOUND'],
  },
  'GET /members/me/activity': {
    operationId: 'listActivity',
    summary: 'List the activity of your account',
    description:
      'The last 90 days, newest first: logins, ended sessions, and changes of password, e-mail address and access ' +
      'tokens. Repeats from the same device and country on the same UTC day are one entry. Beyond five such entries ' +
      'of a kind on a day, further ones are merged into one without device and country. Failed logins are not ' +
      'merged: at most twenty a day are listed, and 500 in all.',
    responses: { 200: json(z.array(Activity).check(z.maxLength(MAX_ENTRIES)), 'The entries') },
  },
}
