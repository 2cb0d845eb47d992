import { env } from 'cloudflare:workers'
import type { Bindings } from '../../../src/env'
import { newEmail, readerWith, send } from '../api'
import { memberHome } from '../database'
import { insertMemberAt } from '../home'
import { UNLIMITED } from '../rate-limits'
import type { Send } from './run'

/** A new member without limits, as whom requests are sent. `changed` replaces bindings. */
export const connectMember = async (changed: Partial<Bindings> = {}): Promise<Send> => {
  const email = newEmail()
  const { token } = await insertMemberAt(memberHome(), env.JWT_SECRET ?? '', email)
  const member = readerWith(email, token, (method, path, options) =>
    send(method, path, { ...options, changed: { ...UNLIMITED, ...changed } }),
  )
  return ({ method, path, ...rest }) => member.send(method, path, rest)
}
