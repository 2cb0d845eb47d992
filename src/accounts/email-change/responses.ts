import { empty, type FeatureReference, json } from '../../http/description/feature-reference'
import { Profile } from '../members/responses'

export const emailChangeReference: FeatureReference = {
  tag: 'Members',
  schemas: {
    EmailChange: 'A new e-mail address, and the password of the account.',
    EmailUndo: 'The code of the change of e-mail address to undo.',
    NewEmail: 'A new e-mail address, and the code that confirms it.',
  },
  ownProperties: {
    'EmailUndo.authenticationCode':
      'The code in the mail to the former address, in upper or lower case, with or without spaces and hyphens.',
    'NewEmail.authenticationCode':
      'The code that `requestEmailChange` mailed, in upper or lower case, with or without spaces and hyphens.',
    email: 'The new e-mail address.',
    password: 'The password of the account.',
  },
  operations: {
    'POST /email/change': {
      operationId: 'requestEmailChange',
      summary: 'Request a change of your e-mail address',
      description:
        'Mails a code of ten letters and digits to the new address. The code is valid for ten minutes. If the ' +
        'address belongs to another member, that member is informed by mail instead; the response is the same. In ten ' +
        'minutes, your requests send at most two mails to an address. If it is a former address of yours, the mail says ' +
        'what a change back does (see `changeEmail`). A wrong password counts as a failed login.',
      responses: { 202: empty('A code is mailed if the address is not taken') },
      countsAttempts: true,
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
        'deletes all access tokens, all links and the password, and mails a code for `resetPassword` to that address.',
      responses: { 200: json(Profile, 'The member') },
      errors: ['MEMBER_EXISTS'],
      countsAttempts: true,
      countsInvalidFields: true,
    },
    'POST /email/change/undo': {
      operationId: 'undoEmailChange',
      summary: 'Undo a change of e-mail address',
      description:
        'Restores the former address with the code that was mailed to it, within 72 hours. Also undoes all later changes, ' +
        'logs out all devices, and deletes all access tokens, all links and the password: reset it with `requestPasswordReset`. The ' +
        'code works once.',
      usesDatabase: true,
      responses: { 204: empty('Restored') },
    },
  },
}
