// A small client: see docs/build-an-app.md. The address after # names the screen.
import { isSignedIn, Refused, signOut } from './api.ts'
import { book, filters, home, type Screen, search, shelf, signInForm } from './screens.ts'

const SCREENS: Record<string, Screen> = {
  '/': home,
  '/shelf': shelf,
  '/filters': filters,
  '/book': book,
  '/search': search,
}

const [main, status] = ['main', '[role=status]'].map((name) => document.querySelector(name) as HTMLElement)
let leave = new AbortController()

const open = async () => {
  leave.abort()
  leave = new AbortController()
  const { signal } = leave
  const [path = '/', query] = location.hash.slice(1).split('?')
  const screen = isSignedIn() ? (SCREENS[path] ?? home) : signInForm
  const say = (text: string) => status?.replaceChildren(text)
  say('')
  main?.replaceChildren()
  try {
    await screen((...content) => main?.replaceChildren(...content), new URLSearchParams(query), signal)
  } catch (error) {
    if (signal.aborted) return
    if (!(error instanceof Refused)) return say('Offline: this is what you last saw')
    if (error.status !== 401) return say(error.message)
    await signOut()
    await open()
  }
}
addEventListener('hashchange', open)
await open()
