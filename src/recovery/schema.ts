import * as z from 'zod'
import { AuthenticationCode, Email, Password } from '../members/schema'

export const PasswordResetRequest = z.object({ email: Email }).meta({ id: 'PasswordResetRequest' })

export const PasswordChangeRequest = z.object({ tempPasswordEmail: Email }).meta({ id: 'PasswordChangeRequest' })

export const PasswordReset = z
  .object({ email: Email, authenticationCode: AuthenticationCode, password: Password })
  .meta({ id: 'PasswordReset' })
export type PasswordReset = z.infer<typeof PasswordReset>
