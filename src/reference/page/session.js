// The token of the caller. It is kept in memory only: a stored one would outlive the visit, possibly on a shared computer.
const status = document.getElementById('caller')
const form = document.getElementById('token')

/** The present token, or an empty string. Changes are announced as the event `session` of the document. */
export let token = ''

const setToken = (value, text) => {
  token = value
  status.textContent = text
  document.documentElement.toggleAttribute('data-token', token !== '')
  document.dispatchEvent(new Event('session'))
}

/** Keeps the token of a login or renewal, and drops it when the session or the account ends. */
export const followSession = (method, path, response, body) => {
  if (!response.ok) return
  const issued = response.headers.get('Authorization')?.replace(/^Bearer /, '')
  if (issued) setToken(issued, path === '/login' ? `Logged in as ${body.email}.` : status.textContent)
  if (path === '/logout' || (method === 'DELETE' && path === '/members/me')) setToken('', 'Not logged in.')
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  setToken(form.elements.token.value.trim().replace(/^(Bearer|Token) /i, ''), 'Uses your token.')
  form.reset()
  form.hidePopover()
})
document.getElementById('forget').addEventListener('click', () => {
  setToken('', 'Not logged in.')
  form.hidePopover()
})
