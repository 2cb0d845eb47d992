// Searches the names and texts of all operations and sections.
const input = document.getElementById('search')
const results = document.getElementById('results')
const list = document.getElementById('list')
const MAX_RESULTS = 30

const SKIPPED = 'header, .samples, .try, .anchor, .pattern'
/** The texts of an element, without its names, samples and forms. */
const textsOf = (root) => {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) => {
    if (node.nodeType === Node.TEXT_NODE) return NodeFilter.FILTER_ACCEPT
    return node.matches(SKIPPED) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP
  })
  const texts = []
  while (walker.nextNode()) texts.push(walker.currentNode)
  return texts
}

/** Words that developers may search for, with those that the texts use. */
const SYNONYMS = Object.entries({
  'add book': 'register book',
  'api key': 'access token',
  'bar code': 'isbn',
  'delete account': 'delete your account',
  'forgot password': 'password reset',
  'infinite scroll': 'page',
  'rate limit': 'limit',
  'read later': 'library',
  'sign in': 'log in',
  'star rating': 'star',
  'to read': 'library',
  'undo delete': 'restore',
  'wish list': 'library',
  annotation: 'memo',
  atom: 'feed',
  backup: 'export',
  barcode: 'isbn',
  bookmark: 'progress',
  chart: 'statistics',
  duplicate: 'merge',
  favorite: 'star',
  highlight: 'memo',
  idempotency: 'retries',
  login: 'log in',
  logout: 'log out',
  note: 'memo',
  offline: 'sync',
  paging: 'page',
  pagination: 'page',
  photo: 'memo image',
  picture: 'memo image',
  quota: 'limit',
  quote: 'memo',
  rating: 'star',
  register: 'sign up',
  reread: 'reading',
  review: 'memo',
  rss: 'feed',
  scan: 'isbn',
  share: 'create link',
  shelf: 'library',
  signup: 'sign up',
  stats: 'statistics',
  throttle: 'limit',
  trash: 'restore',
  undelete: 'restore',
  wishlist: 'library',
})

/** The words of a query, in the singular, each with its synonym. */
const toTerms = (query) => {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  let rest = ` ${words.map((word) => word.replace(/(?<=..[^s])s$/, '')).join(' ')} `
  const terms = []
  for (const [name, synonym] of SYNONYMS) {
    if (!rest.includes(` ${name} `)) continue
    terms.push([name, synonym])
    rest = rest.replace(` ${name} `, ' ')
  }
  return [...terms, ...rest.split(' ').flatMap((word) => (word ? [[word]] : []))]
}

let entries
const loadEntries = () => {
  entries ??= [...document.querySelectorAll('[data-search]')].map((target) => {
    const title = target.dataset.search
    const path = target.querySelector('.path')?.textContent ?? ''
    const text = textsOf(target)
      .map((node) => node.data)
      .join(' ')
      .replace(/\s+/g, ' ')
    return {
      ...{ target, title, text, lower: text.toLowerCase() },
      name: `${title} ${target.id.replace(/[A-Z]/g, ' $&')} ${target.id} ${path}`.toLowerCase(),
      fields: [...target.querySelectorAll('.field code')].map((code) => code.textContent.toLowerCase()).join(' '),
    }
  })
  return entries
}

/** How closely a text has some words: 9 as they are or in the plural, 3 at the start of a word, 1 inside one, else 0. */
const closeness = (text, words) => {
  let best = 0
  for (let at = text.indexOf(words); at >= 0 && best < 9; at = text.indexOf(words, at + 1)) {
    const isStart = !/[a-z0-9]/.test(text[at - 1] ?? ' ')
    const isWhole = isStart && /^s?(?![a-z0-9])/.test(text.slice(at + words.length))
    best = Math.max(best, isWhole ? 9 : isStart ? 3 : 1)
  }
  return best
}

/** How well an entry fits, and what of it is only in its text; nothing if it lacks a term. Of equal ones, a short title is closer. */
const match = (entry, terms) => {
  let score = -entry.title.length / 50
  let inText
  for (const term of terms) {
    const candidates = term.map((words, at) => {
      const inName = closeness(entry.name, words)
      const total = 5 * inName + 2 * closeness(entry.fields, words) + closeness(entry.lower, words)
      return { words, inName, score: total && total - at }
    })
    const best = candidates.reduce((a, b) => (b.score > a.score ? b : a))
    if (best.score === 0) return []
    score += best.score
    // The longest word is the rarest, most likely.
    if (!best.inName && best.words.length > (inText?.length ?? 0)) inText = best.words
  }
  return [{ ...entry, score, inText }]
}

/** The entries with all terms that are in any, the best first. */
const find = (terms) => {
  const all = loadEntries()
  const known = terms.filter((term) => all.some((entry) => match(entry, [term]).length > 0))
  const found = known.length > 0 ? all.flatMap((entry) => match(entry, known)) : []
  return found.sort((a, b) => b.score - a.score)
}

/** The words around the first match, which is marked. */
const toExcerpt = (text, word) => {
  const at = text.toLowerCase().indexOf(word)
  const mark = Object.assign(document.createElement('mark'), { textContent: text.slice(at, at + word.length) })
  const before = text.slice(Math.max(0, at - 40), at).replace(/^\S*/, '')
  const after = text.slice(at + word.length, at + 80).replace(/\S*$/, '')
  const excerpt = Object.assign(document.createElement('span'), { className: 'excerpt' })
  excerpt.append(before, mark, after)
  return excerpt
}

/** Scrolls to the first place in an element that has the word, and opens what hides it. */
const scrollToMatch = (target, word) => {
  const node = textsOf(target).find(({ data }) => data.toLowerCase().includes(word))
  if (!node) return
  for (let at = node.parentElement; at && at !== target; at = at.parentElement)
    if (at.matches('details')) at.open = true
  const range = document.createRange()
  range.setStart(node, node.data.toLowerCase().indexOf(word))
  range.setEnd(node, range.startOffset + word.length)
  CSS.highlights?.set('match', new Highlight(range))
  node.parentElement.scrollIntoView({ block: 'center' })
}

const toResult = ({ target, title, text, inText }) => {
  const link = Object.assign(document.createElement('a'), { href: `#${target.id}` })
  const method = target.querySelector('.method')
  link.append(...(method ? [method.cloneNode(true), ' '] : []), title)
  if (inText) {
    link.append(toExcerpt(text, inText))
    // After the browser has scrolled to the target.
    link.addEventListener('click', () => setTimeout(() => scrollToMatch(target, inText)))
  }
  return link
}

const search = () => {
  const terms = toTerms(input.value)
  list.hidden = terms.length > 0
  results.hidden = terms.length === 0
  CSS.highlights?.clear()
  if (terms.length === 0) return list.querySelector('[aria-current=true]')?.scrollIntoView({ block: 'nearest' })
  const found = find(terms)
  results.replaceChildren(...found.slice(0, MAX_RESULTS).map(toResult))
  if (found.length === 0) results.textContent = 'Nothing found.'
}

input.addEventListener('input', search)
input.addEventListener('keydown', ({ key }) => {
  if (key === 'Enter') results.querySelector('a')?.click()
})
// The arrow keys move between the field and the results.
input.closest('nav').addEventListener('keydown', (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const stops = [input, ...results.querySelectorAll('a')]
  const next = stops[stops.indexOf(event.target) + step]
  if (!next || results.hidden) return
  event.preventDefault()
  next.focus()
})
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target.matches('input, textarea, select')) return
  event.preventDefault()
  if (!input.checkVisibility()) input.closest('[popover]').showPopover()
  input.focus()
})
