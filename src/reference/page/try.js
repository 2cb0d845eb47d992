// Sends the forms that try an operation, and shows the responses.
import { followSession, token } from './session.js'

const MAX_SHOWN = 100_000

const element = (name, properties, ...children) => {
  const created = Object.assign(document.createElement(name), properties)
  created.append(...children)
  return created
}

/** The request that a form describes. Empty fields are not sent. */
const toRequest = (form) => {
  const { method, path } = form.dataset
  const url = new URL(location.origin)
  const headers = new Headers(token ? { Authorization: `Bearer ${token}` } : {})
  let pathname = path
  let body
  for (const control of form.querySelectorAll('[data-in]')) {
    const { name, value, files } = control
    if (!value) continue
    const place = control.dataset.in
    if (place === 'path') pathname = pathname.replace(`{${name}}`, encodeURIComponent(value))
    if (place === 'query') url.searchParams.set(name, value)
    if (place === 'header') headers.set(name, value)
    if (place === 'body') {
      headers.set('Content-Type', control.dataset.type)
      body = value
    }
    if (place === 'form') {
      body ??= new FormData()
      body.append(name, files?.[0] ?? value)
    }
  }
  url.pathname = pathname
  return { method, url, init: { method, headers, body } }
}

const toShown = (text) => {
  let shown = text
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2)
  } catch {}
  return shown.length > MAX_SHOWN
    ? `${shown.slice(0, MAX_SHOWN)}\n… ${shown.length - MAX_SHOWN} more characters`
    : shown
}

/** What to do about a 401. */
const toLogin = () => {
  const link = element('a', { href: '#logIn', textContent: 'Log in' })
  link.addEventListener('click', () => {
    document.querySelector('#logIn .try').open = true
  })
  return element('p', {}, link, ', or set a token at the top of this page.')
}

/** An image that needs a token cannot be loaded by its address. */
const showImage = async (response) => {
  const image = element('img', { src: URL.createObjectURL(await response.blob()), alt: 'The image' })
  image.addEventListener('load', () => URL.revokeObjectURL(image.src))
  return image
}

const showResponse = async (answer, response, ms) => {
  const isImage = response.headers.get('Content-Type')?.startsWith('image/')
  const text = isImage ? '' : await response.text()
  const lines = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n')
  const headers = element('pre', { tabIndex: 0, textContent: lines })
  answer.replaceChildren(
    element('p', { className: 'result' }, element('strong', { textContent: response.status }), ` in ${ms} ms`),
    element('details', {}, element('summary', { textContent: 'Headers' }), headers),
    ...(response.status === 401 && !response.url.endsWith('/login') ? [toLogin()] : []),
    ...(isImage ? [await showImage(response)] : []),
    ...(text ? [element('pre', { tabIndex: 0, className: 'response', textContent: toShown(text) })] : []),
  )
  return text
}

document.addEventListener('submit', async (event) => {
  const form = event.target
  if (!form.dataset.path) return
  event.preventDefault()
  if (form.dataset.confirm && !confirm(form.dataset.confirm)) return
  const answer = form.querySelector('.answer')
  answer.replaceChildren('Sending…')
  const { method, url, init } = toRequest(form)
  const start = performance.now()
  try {
    const response = await fetch(url, init)
    const text = await showResponse(answer, response, Math.round(performance.now() - start))
    const isJson = response.headers.get('Content-Type')?.startsWith('application/json')
    followSession(method, url.pathname, response, isJson ? JSON.parse(text) : {})
  } catch (error) {
    answer.replaceChildren(`No response: ${error.message}`)
  }
})
