import { empty, type FeatureReference } from '../../http/description/feature-reference'

const MAILED = empty('A code is mailed if the address is a member’s')

export const recoveryReference: FeatureReference = {
  tag: 'Members',
  schemas: {
    PasswordChangeRequest: 'The address of the account, as older clients send it.',
    PasswordReset: 'A new password, and the code that authorizes it.',
    PasswordResetRequest: 'The address of the account.',
  },
  properties: {
    authenticationCode:
      'The code that `requestPasswordReset` mailed, in upper or lower case, with or without spaces and hyphens.',
    tempPasswordEmail: 'The e-mail address of the account.',
  },
  operations: {
    'POST /email/password-reset': {
      operationId: 'requestPasswordReset',
      summary: 'Request a password reset',
      description:
        'If the address is a member’s, mails a code of ten letters and digits, such as `K7QM2-9FXTR`, which is valid for ' +
        'ten minutes. At most two valid codes are mailed to an address in ten minutes. The response is the same for every address.',
      responses: { 202: MAILED },
      countsAttempts: true,
    },
    'POST /email/password-change': {
      operationId: 'requestPasswordChange',
      summary: 'Request a password reset, for older clients',
      description: 'The same as `requestPasswordReset`. Never changes a password.',
      responses: { 202: MAILED },
      countsAttempts: true,
    },
    'POST /password-reset': {
      operationId: 'resetPassword',
      summary: 'Reset a password',
      description:
        'Sets a new password with a code from `requestPasswordReset`, and ends all sessions, access tokens and links. Returns ' +
        'no token: log in afterwards. The code works once, until the next reset or change of e-mail address. ' +
        'At most five tries in ten minutes from a network.',
      responses: { 204: empty('The password was reset') },
      countsAttempts: true,
      countsInvalidFields: true,
    },
  },
}
