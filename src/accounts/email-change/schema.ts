import * as z from 'zod/mini'
import { AuthenticationCode, Email, KnownPassword } from '../members/schema'

export const EmailChange = z.lazy(() =>
  z.object({ email: Email, password: KnownPassword }).register(z.globalRegistry, { id: 'EmailChange' }),
)
export type EmailChange = z.infer<typeof EmailChange>

export const NewEmail = z.lazy(() =>
  z.object({ email: Email, authenticationCode: AuthenticationCode }).register(z.globalRegistry, { id: 'NewEmail' }),
)
export type NewEmail = z.infer<typeof NewEmail>

export const EmailUndo = z.lazy(() =>
  z.object({ authenticationCode: AuthenticationCode }).register(z.globalRegistry, { id: 'EmailUndo' }),
)
