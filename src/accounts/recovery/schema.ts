import * as z from 'zod/mini'
import { AuthenticationCode, Email, Password } from '../members/schema'

export const PasswordResetRequest = z.lazy(() =>
  z.object({ email: Email }).register(z.globalRegistry, { id: 'PasswordResetRequest' }),
)

export const PasswordChangeRequest = z.lazy(() =>
  z.object({ tempPasswordEmail: Email }).register(z.globalRegistry, { id: 'PasswordChangeRequest' }),
)

export const PasswordReset = z.lazy(() =>
  z
    .object({ email: Email, authenticationCode: AuthenticationCode, password: Password })
    .register(z.globalRegistry, { id: 'PasswordReset' }),
)
export type PasswordReset = z.infer<typeof PasswordReset>
