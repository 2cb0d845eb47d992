// How the app talks to the service: one request for a screen, and a copy of the last answer to each.
import { openStore } from '../../../docs/indexed-db-store.ts'

/** The service refused the request. `message` says why, in words for the developer or, for a search term, the user. */
export class Refused extends Error {
  status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const TOKEN = 'token'
const store = openStore('reading')
export const isSignedIn = () => localStorage.getItem(TOKEN) !== null

/** @throws Refused, or what `fetch` throws if the service cannot be reached or the signal aborts */
export const request = async (path: string, init: RequestInit = {}) => {
  const token = localStorage.getItem(TOKEN)
  const response = await fetch(path, { ...init, headers: { ...init.headers, ...(token && { Authorization: token }) } })
  const body = await response.json()
  if (response.ok) return { body, headers: response.headers }
  const [violation] = [...(body.violationErrors ?? []), ...(body.fieldErrors ?? [])]
  throw new Refused(response.status, violation?.reason ?? body.message)
}

/** Keeps the token. The copy is that of one member: another one who signs in must not see it. */
export const signIn = async (email: string, password: string) => {
  const headers = { 'Content-Type': 'application/json' }
  const answer = await request('/login', { method: 'POST', headers, body: JSON.stringify({ email, password }) })
  await signOut()
  localStorage.setItem(TOKEN, answer.headers.get('Authorization') ?? '')
}

export const signOut = async () => {
  localStorage.removeItem(TOKEN)
  const opened = await store
  await opened.write((await opened.list('')).map(([path]) => [path, undefined]))
}

/** Shows the copy of the last answer at once, if there is one, then the new answer, if it differs. Throws as `request`. */
export const load = async <Body>(path: string, show: (body: Body) => void, signal?: AbortSignal) => {
  const opened = await store
  const copy = await opened.get(path)
  if (copy && !signal?.aborted) show(copy as Body)
  const { body } = await request(path, { signal })
  await opened.write([[path, body]])
  if (JSON.stringify(body) !== JSON.stringify(copy)) show(body)
}
