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

let entries
const loadEntries = () => {
  entries ??= [...document.querySelectorAll('[data-search]')].map((target) => ({
    target,
    title: target.dataset.search,
    name: `${target.dataset.search} ${target.id} ${target.querySelector('.path')?.textContent ?? ''}`.toLowerCase(),
    text: textsOf(target)
      .map((node) => node.data)
      .join(' ')
      .replace(/\s+/g, ' '),
  }))
  return entries
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

const toResult = ({ target, title, name, text, inName }, words) => {
  const link = Object.assign(document.createElement('a'), { href: `#${target.id}` })
  const method = target.querySelector('.method')
  link.append(...(method ? [method.cloneNode(true), ' '] : []), title)
  if (!inName) {
    const word = words.find((each) => !name.includes(each))
    link.append(toExcerpt(text, word))
    // After the browser has scrolled to the target.
    link.addEventListener('click', () => setTimeout(() => scrollToMatch(target, word)))
  }
  return link
}

const search = () => {
  const words = input.value.toLowerCase().trim().split(/\s+/).filter(Boolean)
  list.hidden = words.length > 0
  results.hidden = words.length === 0
  CSS.highlights?.clear()
  if (words.length === 0) return list.querySelector('[aria-current=true]')?.scrollIntoView({ block: 'nearest' })
  const found = loadEntries()
    .filter(({ name, text }) => words.every((word) => name.includes(word) || text.toLowerCase().includes(word)))
    .map((entry) => ({ ...entry, inName: words.every((word) => entry.name.includes(word)) }))
    .sort((a, b) => b.inName - a.inName)
  // The longest word is the rarest one, most likely.
  words.sort((a, b) => b.length - a.length)
  results.replaceChildren(...found.slice(0, MAX_RESULTS).map((entry) => toResult(entry, words)))
  if (found.length === 0) results.textContent = 'Nothing found.'
}

input.addEventListener('input', search)
input.addEventListener('keydown', ({ key }) => {
  if (key === 'Enter') results.querySelector('a')?.click()
})
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target.matches('input, textarea, select')) return
  event.preventDefault()
  if (!input.checkVisibility()) input.closest('[popover]').showPopover()
  input.focus()
})
