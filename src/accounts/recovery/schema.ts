import * as z from 'zod/mini'
import { namedLazy } from '../../values/named'
import { AuthenticationCode, Email, Password } from '../members/schema'

export const PasswordResetRequest = namedLazy('PasswordResetRequest', () => z.object({ email: Email }))

export const PasswordChangeRequest = namedLazy('PasswordChangeRequest', () => z.object({ tempPasswordEmail: Email }))

export const PasswordReset = namedLazy('PasswordReset', () =>
  z.object({ email: Email, authenticationCode: AuthenticationCode, password: Password }),
)
export type PasswordReset = z.infer<typeof PasswordReset>
