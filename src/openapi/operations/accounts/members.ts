import { Profile, UpdatedProfile } from '../../../accounts/members/responses'
import { empty, json, type Operations, RATE_LIMIT } from '../operation'

const MAILED = empty('A code is mailed if the address is a member’s', ...RATE_LIMIT)

export const membersOperations: Operations = {
  'POST /join': {
    operationId: 'signUp',
    summary: 'Sign up',
    description:
      'Requires a code from `requestCode`, or any text if the service does not verify addresses. The service may refuse ' +
      'the 10,000 most common passwords. Returns no token: log in afterwards.',
    usesDatabase: true,
    responses: { 201: json(Profile, 'The new member', ...RATE_LIMIT) },
    errors: ['AUTHORIZATION_NOT_ALLOWED', 'MEMBER_EXISTS'],
  },
  'POST /email/join': {
    operationId: 'requestCode',
    summary: 'Request a verification code',
    description:
      'Mails a six-digit code, which is valid for ten minutes. It works once, from any network. A code requested earlier ' +
      'for the same address from the same network becomes invalid.',
    usesDatabase: true,
    responses: { 201: empty('The code was mailed', ...RATE_LIMIT) },
    errors: ['MEMBER_EXISTS', 'TOO_MANY_REQUESTS'],
  },
  'POST /login': {
    operationId: 'logIn',
    summary: 'Log in',
    description:
      'Returns the token in the `Authorization` response header, as `Bearer <JWT>`. After ten failed logins to an ' +
      'account within 15 minutes, further ones from the same network get 429, even with the right password.',
    usesDatabase: true,
    responses: { 200: json(Profile, 'The member; the token is in a header', 'Authorization', ...RATE_LIMIT) },
    errors: ['AUTHORIZATION_NOT_ALLOWED', 'LOGIN_FAILED'],
  },
  'GET /members/me': {
    operationId: 'getProfile',
    summary: 'Get your profile',
    description: 'Returns the member the token belongs to.',
    responses: { 200: json(Profile, 'The member') },
  },
  'PATCH /members/me': {
    operationId: 'updateProfile',
    summary: 'Update your name or password',
    description:
      'A new password ends all other sessions immediately. The current session stays valid, and so do access tokens ' +
      'unless `deleteAccessTokens` is true: send it if someone else had access to your account. ' +
      'At most ten password changes an hour. A wrong `currentPassword` counts as a failed login. The service may refuse ' +
      'the 10,000 most common passwords.',
    responses: { 200: json(UpdatedProfile, 'The updated member', ...RATE_LIMIT) },
    errors: ['TOO_MANY_REQUESTS'],
    countsInvalidFields: true,
  },
  'DELETE /members/me': {
    operationId: 'withdraw',
    summary: 'Delete your account',
    description:
      'All tokens stop working immediately, and the e-mail address can sign up again. Books and memos can no longer be ' +
      'read. They and the images are deleted soon after. Cannot be undone.',
    responses: { 204: empty('Deleted') },
  },
  'POST /email/password-reset': {
    operationId: 'requestPasswordReset',
    summary: 'Request a password reset',
    description:
      'If the address is a member’s, mails a code of ten letters and digits, such as `K7QM2-9FXTR`, which is valid for ' +
      'ten minutes. At most two valid codes are mailed to an address in ten minutes. The response is the same for every address.',
    usesDatabase: true,
    responses: { 202: MAILED },
    errors: ['TOO_MANY_REQUESTS'],
  },
  'POST /email/password-change': {
    operationId: 'requestPasswordChange',
    summary: 'Request a password reset, for older clients',
    description: 'The same as `requestPasswordReset`. Never changes a password.',
    usesDatabase: true,
    responses: { 202: MAILED },
    errors: ['TOO_MANY_REQUESTS'],
  },
  'POST /password-reset': {
    operationId: 'resetPassword',
    summary: 'Reset a password',
    description:
      'Sets a new password with a code from `requestPasswordReset`, and ends all sessions and access tokens. Returns ' +
      'no token: log in afterwards. The code works once, until the next reset or change of e-mail address. ' +
      'At most five tries in ten minutes from a network.',
    usesDatabase: true,
    responses: { 204: empty('The password was reset', ...RATE_LIMIT) },
    errors: ['TOO_MANY_REQUESTS'],
    countsInvalidFields: true,
  },
  'POST /email/change': {
    operationId: 'requestEmailChange',
    summary: 'Request a change of your e-mail address',
    description:
      'Mails a code of ten letters and digits to the new address. The code is valid for ten minutes. If the ' +
      'address belongs to another member, that member is informed by mail instead; the response is the same. In ten ' +
      'minutes, your requests send at most two mails to an address. If it is a former address of yours, the mail says ' +
      'what a change back does (see `changeEmail`). A wrong password counts as a failed login.',
    responses: { 202: empty('A code is mailed if the address is not taken', ...RATE_LIMIT) },
    errors: ['TOO_MANY_REQUESTS'],
    countsInvalidFields: true,
  },
  'PATCH /members/me/email': {
    operationId: 'changeEmail',
    summary: 'Change your e-mail address',
    description:
      'Requires a code from `requestEmailChange`, which works once, until the next password reset or change of ' +
      'e-mail address. You stay logged in on all devices; `endOtherSessions` logs out the others. A code that restores the ' +
      'former address is mailed to it, and the address is reserved for you for 72 hours. If you change back to a former ' +
      'address within that time, this undoes the changes since, but you stay logged in: it logs out all other devices, ' +
      'deletes all access tokens and the password, and mails a code for `resetPassword` to that address.',
    responses: { 200: json(Profile, 'The member', ...RATE_LIMIT) },
    errors: ['MEMBER_EXISTS', 'TOO_MANY_REQUESTS'],
    countsInvalidFields: true,
  },
  'POST /email/change/undo': {
    operationId: 'undoEmailChange',
    summary: 'Undo a change of e-mail address',
    description:
      'Restores the former address with the code that was mailed to it, within 72 hours. Also undoes all later changes, ' +
      'logs out all devices, and deletes all access tokens and the password: reset it with `requestPasswordReset`. The ' +
      'code works once.',
    usesDatabase: true,
    responses: { 204: empty('Restored') },
  },
}
