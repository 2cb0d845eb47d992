const caller = document.getElementById('caller')

// Swagger UI's dark colours hang on a class; here the reader's own setting decides.
const dark = matchMedia('(prefers-color-scheme: dark)')
const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', paint)
paint()

/** Authorises the page by the token that a login answers, and takes it back when the member withdraws. */
const keepToken = (answer) => {
  const { pathname } = new URL(answer.url, location.href)
  const token = answer.headers.authorization?.replace(/^Bearer /, '')
  if (pathname === '/login' && answer.ok && token) {
    ui.preauthorizeApiKey('bearer', token)
    caller.textContent = `Logged in as ${answer.body.email}.`
  }
  if (pathname === '/members/me' && answer.status === 204) {
    ui.authActions.logout(['bearer'])
    caller.textContent = 'Not logged in.'
  }
  return answer
}

const ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  layout: 'BaseLayout',
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  // A token is good for days: what is stored would outlive the visit, on a machine that others may use.
  persistAuthorization: false,
  responseInterceptor: keepToken,
})
