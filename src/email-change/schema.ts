import * as z from 'zod'
import { AuthenticationCode, Email, KnownPassword } from '../members/schema'

export const EmailChange = z.object({ email: Email, password: KnownPassword }).meta({ id: 'EmailChange' })
export type EmailChange = z.infer<typeof EmailChange>

export const NewEmail = z.object({ email: Email, authenticationCode: AuthenticationCode }).meta({ id: 'NewEmail' })
export type NewEmail = z.infer<typeof NewEmail>

export const EmailUndo = z.object({ authenticationCode: AuthenticationCode }).meta({ id: 'EmailUndo' })
