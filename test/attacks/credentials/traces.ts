// A thief with a member's password tries to hide the login in the activity, and to keep access.
import { setTimeout } from 'node:timers/promises'
import { type Attack, createChecks } from '../harness/attack'
import { jsonRequest, logIn, PASSWORD, signUp } from '../harness/members'

/** Entries of a kind on a day: five devices and countries, and one without either. */
const MAX_MERGED = 6
const NEW_PASSWORD = 'traced-horse-8'

type Entry = { kind: string; device: string | null; count: number }

export const traces: Attack = async ({ quick, progress, start }) => {
  const rounds = quick ? 20 : 2_000
  const service = await start({ writesPerMinute: 1e6 })
  const owner = await signUp(service)
  service.secrets.add(NEW_PASSWORD)
  const { failures, check } = createChecks()
  const ask = (token: string, method: string, path: string, body?: object, device = 'Browser') => {
    const headers = `User-Agent: ${device}\r\n`
    return service.request(
      body ? jsonRequest(method, path, body, { token, headers }) : { method, path, token, headers },
    )
  }

  const login = jsonRequest('POST', '/login', { email: owner.email, password: PASSWORD })
  const { headers } = await service.request({ ...login, headers: 'User-Agent: Thief\r\n' })
  const thief = headers.get('Authorization')?.replace('Bearer ', '') ?? ''
  service.secrets.add(thief)

  progress(`${rounds} access tokens created and deleted`)
  for (let n = 0; n < rounds; n++) {
    const device = `Device${n % 97}`
    const { body } = await ask(thief, 'POST', '/tokens', { name: 'Hidden', scopes: ['library:read'] }, device)
    const { tokenId, token } = body as { tokenId: string; token: string }
    service.secrets.add(token)
    await ask(thief, 'DELETE', `/tokens/${tokenId}`, undefined, device)
  }
  const { body } = await ask(owner.token, 'GET', '/members/me/activity')
  const entries = body as Entry[]
  const logins = entries.filter(({ kind, device }) => kind === 'LOGIN' && device === 'Thief')
  check('entries of the login of the thief', logins.length, 1)
  const created = entries.filter(({ kind }) => kind === 'TOKEN_CREATED')
  const counted = created.reduce((sum, { count }) => sum + count, 0)
  check('access tokens in the activity', counted, rounds)
  // The run may pass midnight.
  check('entries of access tokens are merged', created.length <= 2 * MAX_MERGED, true)
  const findMails = () =>
    service.mails().filter((mail) => mail.includes('An access token or a sharing link was created'))
  for (let attempt = 0; attempt < 100 && findMails().length === 0; attempt++) await setTimeout(20)
  const mails = findMails().length
  check('mails to the owner', mails, 1)

  progress('the owner changes the password and deletes all access tokens')
  const last = (await ask(thief, 'POST', '/tokens', { name: 'Last', scopes: ['profile:read'] })).body as {
    token: string
  }
  service.secrets.add(last.token)
  const changed = await ask(owner.token, 'PATCH', '/members/me', { password: NEW_PASSWORD, deleteAccessTokens: true })
  check('the password change of the owner', changed.status, 200)
  for (const [what, token] of [['session', thief] as const, ['access token', last.token] as const]) {
    check(`the ${what} of the thief`, (await ask(token, 'GET', '/members/me')).status, 401)
  }
  check('a login with the new password', (await logIn(service, owner.email, NEW_PASSWORD)).memberId, owner.memberId)
  const result = `login listed, ${created.length} entries for them, ${mails} mail`
  return { figures: [['access tokens that a thief created and deleted after a login', rounds, result]], failures }
}
