// Code samples with the origin of this page, in the language that the reader chose, and buttons that copy them.
import { token } from './session.js'

const root = document.documentElement
const EXAMPLE_ORIGIN = 'https://library.example.com'

for (const code of document.querySelectorAll('code')) {
  if (code.textContent.includes(EXAMPLE_ORIGIN)) {
    code.textContent = code.textContent.replaceAll(EXAMPLE_ORIGIN, location.origin)
  }
}

const showLanguage = () => {
  for (const button of document.querySelectorAll('.language')) {
    button.setAttribute('aria-pressed', button.dataset.language === root.dataset.language)
  }
}
showLanguage()

const NEEDS_TOKEN = /\$TOKEN|\$\{token\}/

/** The sample with a line that sets its token, if the caller has one. */
const withToken = (source) => {
  if (!token || !NEEDS_TOKEN.test(source)) return source
  const line = source.includes('$TOKEN') ? `TOKEN='${token}'\n` : `const token = '${token}'\n`
  return source.replace(/^(import .*\n)*\n?/, (imports) => imports + line)
}

const copy = async (button) => {
  const shown = [...button.closest('.sample').querySelectorAll('pre')].find((pre) => pre.checkVisibility())
  const text = button.textContent
  try {
    await navigator.clipboard.writeText(withToken(shown.textContent))
    button.textContent = 'Copied'
  } catch {
    // Only pages with HTTPS, and those of localhost, may write to the clipboard.
    getSelection().selectAllChildren(shown)
    button.textContent = 'Selected'
  }
  setTimeout(() => {
    button.textContent = text
  }, 1500)
}

document.addEventListener('click', ({ target }) => {
  if (target.matches('.copy')) copy(target)
  if (!target.matches('.language')) return
  const top = target.getBoundingClientRect().top
  root.dataset.language = target.dataset.language
  localStorage.setItem('language', target.dataset.language)
  showLanguage()
  // Samples above may have become longer or shorter.
  scrollBy({ top: target.getBoundingClientRect().top - top, behavior: 'instant' })
})

document.addEventListener('session', () => {
  for (const button of document.querySelectorAll('.copy')) {
    const needsToken = NEEDS_TOKEN.test(button.closest('.sample').textContent)
    button.textContent = token && needsToken ? 'Copy with token' : 'Copy'
  }
})
