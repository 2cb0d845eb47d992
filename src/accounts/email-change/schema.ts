import * as z from 'zod/mini'
import { namedLazy } from '../../values/named'
import { AuthenticationCode, Email, KnownPassword } from '../members/schema'

export const EmailChange = namedLazy('EmailChange', () => z.object({ email: Email, password: KnownPassword }))
export type EmailChange = z.infer<typeof EmailChange>

export const NewEmail = namedLazy('NewEmail', () => z.object({ email: Email, authenticationCode: AuthenticationCode }))
export type NewEmail = z.infer<typeof NewEmail>

export const EmailUndo = namedLazy('EmailUndo', () => z.object({ authenticationCode: AuthenticationCode }))
