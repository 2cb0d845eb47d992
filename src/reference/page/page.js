const caller = document.getElementById('caller')

// Swagger UI's dark theme is a class: set it by the system's colour scheme.
const dark = matchMedia('(prefers-color-scheme: dark)')
const applyTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', applyTheme)
applyTheme()

/** Keeps the token of a login for later calls, and drops it when the member withdraws. */
const keepToken = (response) => {
  const { pathname } = new URL(response.url, location.href)
  const token = response.headers.authorization?.replace(/^Bearer /, '')
  if (pathname === '/login' && response.ok && token) {
    ui.preauthorizeApiKey('bearer', token)
    caller.textContent = `Logged in as ${response.body.email}.`
  }
  if (pathname === '/members/me' && response.status === 204) {
    ui.authActions.logout(['bearer'])
    caller.textContent = 'Not logged in.'
  }
  return response
}

/** A Swagger UI plugin that shows an operation's code samples above its responses. */
const codeSamples = ({ React: { createElement: element, Fragment } }) => ({
  wrapComponents: {
    responses: (Responses) => (props) => {
      const samples = props.specSelectors.specJson().getIn(['paths', props.path, props.method, 'x-codeSamples'])
      const blocks = samples?.map((sample) =>
        element(
          'details',
          { key: sample.get('label') },
          element('summary', null, sample.get('label')),
          element('pre', { tabIndex: 0 }, sample.get('source')),
        ),
      )
      return element(
        Fragment,
        null,
        element('div', { className: 'code-samples' }, element('h4', null, 'Code samples'), blocks),
        element(Responses, props),
      )
    },
  },
})

/** Links the sections of the introduction and the groups of operations at the top of the page. */
const listContents = () => {
  for (const heading of document.querySelectorAll('.info .renderedMarkdown h2, h3.opblock-tag')) {
    const title = heading.dataset.tag ?? heading.textContent
    heading.id ||= title.toLowerCase().replaceAll(' ', '-')
    const link = Object.assign(document.createElement('a'), { href: `#${heading.id}`, textContent: title })
    document.getElementById('contents').append(link)
  }
}

const ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  layout: 'BaseLayout',
  plugins: [codeSamples],
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  // A stored token would outlive the visit by days, possibly on a shared computer.
  persistAuthorization: false,
  responseInterceptor: keepToken,
  onComplete: listContents,
})
