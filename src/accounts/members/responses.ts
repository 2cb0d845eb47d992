import * as z from 'zod/mini'
import { empty, type FeatureReference, json, WELL_FORMED } from '../../http/description/feature-reference'
import { named, namedObject } from '../../values/named'
import { LocalTime, textUpTo } from '../../values/responses'
import { MAX_NAME, TimeZone } from './schema'

export const Profile = namedObject('Profile', { email: textUpTo(254), name: textUpTo(MAX_NAME) })
export type Profile = z.infer<typeof Profile>

export const UpdatedProfile = named('UpdatedProfile', z.extend(Profile, { updatedAt: LocalTime }))
export type UpdatedProfile = z.infer<typeof UpdatedProfile>

export const Settings = namedObject('Settings', { timeZone: TimeZone })
export type Settings = z.infer<typeof Settings>

export const membersReference: FeatureReference = {
  tag: 'Members',
  schemas: {
    CodeRequest: 'The address to verify.',
    Credentials: 'E-mail address and password.',
    NewMember: 'An account to create.',
    Profile: 'A member.',
    ProfilePatch: 'The fields of the profile to change. Absent fields stay unchanged.',
    Settings: 'What you have set for your account.',
    TimeZone: 'Name of an IANA time zone, such as `Asia/Seoul`.',
    UpdatedProfile: 'A member after a change.',
  },
  properties: {
    authenticationCode:
      'The code that `requestCode` mailed, or that of an invitation. If the service does not verify addresses, any text that ' +
      'is not blank.',
    currentPassword:
      'The current password. Checked only if `password` is sent, else named in `X-Ignored`; the operator may have made it required then.',
    deleteAccessTokens: 'Whether a new password also deletes all access tokens. Only with `password`. False if absent.',
    email: 'E-mail address, unique regardless of case.',
    joinAuthCodeEmail: 'The e-mail address that the code is sent to.',
    name: 'Name of the member.',
    'NewMember.name': `Name of the member. ${WELL_FORMED}.`,
    'ProfilePatch.name': `Name of the member. ${WELL_FORMED}.`,
    password: 'Password: 6 to 128 characters, which may be ASCII letters, digits and punctuation, but not spaces.',
    'Credentials.password': 'The password of the account.',
    timeZone: 'Your time zone, by which the statistics count days. That of the service unless you have set one.',
    'ProfilePatch.timeZone': 'Time zone, by which the statistics count days. Null for that of the service.',
    'UpdatedProfile.updatedAt': 'When the profile was last changed.',
  },
  operations: {
    'POST /join': {
      operationId: 'signUp',
      summary: 'Sign up',
      description:
        'Requires a code from `requestCode`, or any text if the service does not verify addresses. The service may refuse ' +
        'the 10,000 most common passwords. Returns no token: log in afterwards.',
      responses: { 201: json(Profile, 'The new member') },
      errors: ['AUTHORIZATION_NOT_ALLOWED', 'MEMBER_EXISTS'],
      countsAttempts: true,
    },
    'POST /email/join': {
      operationId: 'requestCode',
      summary: 'Request a verification code',
      description:
        'Mails a six-digit code, which is valid for ten minutes. It works once, from any network. A code requested earlier ' +
        'for the same address from the same network becomes invalid. If sign-up is by invitation, the request is refused: the ' +
        'operator of the service gives the code.',
      responses: { 201: empty('The code was mailed') },
      errors: ['MEMBER_EXISTS'],
      countsAttempts: true,
    },
    'POST /login': {
      operationId: 'logIn',
      summary: 'Log in',
      description:
        'Returns the token in the `Authorization` response header, as `Bearer <JWT>`. After ten failed logins to an ' +
        'account within 15 minutes, further ones from the same network get 429, even with the right password.',
      responses: { 200: json(Profile, 'The member; the token is in a header', 'Authorization') },
      errors: ['AUTHORIZATION_NOT_ALLOWED', 'LOGIN_FAILED', 'MEMBER_BLOCKED'],
      countsAttempts: true,
    },
    'GET /members/me': {
      operationId: 'getProfile',
      summary: 'Get your profile',
      description: 'Returns the member the token belongs to.',
      responses: { 200: json(Profile, 'The member') },
    },
    'GET /members/me/settings': {
      operationId: 'getSettings',
      summary: 'Get your settings',
      description: '`updateProfile` changes them.',
      responses: { 200: json(Settings, 'The settings') },
    },
    'PATCH /members/me': {
      operationId: 'updateProfile',
      summary: 'Update your name, password or time zone',
      description:
        'A new password ends all other sessions immediately. The current session and all links stay valid, and so do access tokens ' +
        'unless `deleteAccessTokens` is true: send it if someone else had access to your account. ' +
        'At most ten password changes an hour. A wrong `currentPassword` counts as a failed login. The service may refuse ' +
        'the 10,000 most common passwords.',
      responses: { 200: json(UpdatedProfile, 'The updated member') },
      countsAttempts: true,
      countsInvalidFields: true,
    },
    'DELETE /members/me': {
      operationId: 'withdraw',
      summary: 'Delete your account',
      description:
        'All tokens and links stop working immediately, and the e-mail address can sign up again. Books and memos can no longer be ' +
        'read. They and the images are deleted soon after. Cannot be undone.',
      responses: { 204: empty('Deleted') },
    },
  },
}
