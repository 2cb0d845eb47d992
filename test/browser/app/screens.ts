// The screens. Each loads what it shows in one request.
import { load, Refused, request, signIn } from './api.ts'
import type { Book, BookCounts, List, ReadBook, WholeBook } from './types.ts'

type Child = Node | string | number | null | undefined
/** Creates an element. Texts of members are set as text, never as HTML. */
const h = <Name extends keyof HTMLElementTagNameMap>(name: Name, properties: object = {}, ...children: Child[]) => {
  const element = document.createElement(name)
  element.append(
    ...children.filter((child) => child != null).map((child) => (child instanceof Node ? child : `${child}`)),
  )
  return Object.assign(element, properties) as HTMLElementTagNameMap[Name]
}

/** `show` replaces the content of the screen. `signal` aborts when the user leaves it. */
export type Screen = (show: (...content: Node[]) => void, query: URLSearchParams, signal: AbortSignal) => Promise<void>

const toItem = ({ bookId, title, author, cover }: Book, ...details: Child[]) =>
  h(
    'li',
    {},
    h('img', { src: cover ?? 'data:,', alt: '', loading: 'lazy' }),
    h('a', { href: `#/book?id=${bookId}` }, title),
    author === null ? null : h('span', {}, author),
    ...details,
  )
const toPages = (page: number, pages: number | null) => `Page ${page}${pages ? ` of ${pages}` : ''}`

/** What is being read, latest activity first. */
export const home: Screen = (show, _, signal) =>
  load<List<ReadBook>>(
    '/books?status=ING&sort=-activity&include=progress,lastMemo&size=5',
    ({ item }) => {
      const toDetails = ({ currentPage, itemPage, progress, lastMemo }: ReadBook) => [
        h('span', {}, toPages(currentPage, itemPage), progress ? `, ${progress.at.slice(0, 10)}` : ''),
        lastMemo ? h('q', {}, lastMemo.memoContent.slice(0, 120)) : null,
      ]
      show(h('h1', {}, 'Reading now'), h('ul', {}, ...item.map((book) => toItem(book, ...toDetails(book)))))
    },
    signal,
  )

const FILTERS = ['status', 'tag', 'series', 'format', 'cursor']
/** The books that match the filters in the address of the screen. */
export const shelf: Screen = (show, query, signal) => {
  const filters = new URLSearchParams([...query].filter(([name, value]) => FILTERS.includes(name) && value))
  return load<List<Book>>(
    `/books?${new URLSearchParams([['sort', 'title'], ['size', '30'], ...filters])}`,
    ({ item, next }) => {
      const more = next && h('a', { href: `#/shelf?${new URLSearchParams([...query, ['cursor', next]])}` }, 'More')
      show(
        h('h1', {}, 'Shelf'),
        h('a', { href: `#/filters?${filters}` }, 'Filter'),
        h('ul', {}, ...item.map((book) => toItem(book))),
        ...(more ? [more] : []),
      )
    },
    signal,
  )
}

/** All values to filter by, each with its number of books. */
export const filters: Screen = (show, query, signal) =>
  load<BookCounts>(
    '/books/counts',
    ({ statuses, tags, series, formats }) => {
      const values = {
        status: Object.entries(statuses),
        tag: tags.map(({ tag, bookCount }) => [tag, bookCount] as const),
        series: series.map((each) => [each.series, each.bookCount] as const),
        format: formats.map(({ format, bookCount }) => [format, bookCount] as const),
      }
      const selects = Object.entries(values).map(([name, counted]) => {
        const options = counted.map(([value, count]) => h('option', { value }, `${value} (${count})`))
        const select = h('select', { name }, h('option', { value: '' }, 'All'), ...options)
        select.value = query.get(name) ?? ''
        return h('p', {}, h('label', {}, `${name} `, select))
      })
      const form = h('form', {}, ...selects, h('button', {}, 'Show'))
      form.onsubmit = (event) => {
        event.preventDefault()
        location.hash = `#/shelf?${new URLSearchParams(new FormData(form) as never)}`
      }
      show(h('h1', {}, 'Filter'), form)
    },
    signal,
  )

/** All of a book. */
export const book: Screen = (show, query, signal) =>
  load<WholeBook>(
    `/books/${Number(query.get('id'))}/whole`,
    ({ title, author, currentPage, itemPage, edition, tags, readings, memos, memoCount }) => {
      const { series, seriesNumber, publishedYear } = edition
      const [reading] = readings
      const toMemo = ({ memoContent, memoBookPage }: NonNullable<typeof memos>[number]) =>
        h('blockquote', {}, memoContent, h('footer', {}, `Page ${memoBookPage}`))
      const lines = [
        author,
        series && `${series}${seriesNumber === null ? '' : `, ${seriesNumber}`}`,
        publishedYear && String(publishedYear),
        toPages(currentPage, itemPage),
        reading?.rating && `${reading.rating} of 5`,
        tags.join(', '),
      ]
      show(
        h('h1', {}, title),
        ...lines.flatMap((line) => (line ? h('p', {}, line) : [])),
        h('h2', {}, `${memoCount} memos`),
        ...(memos ?? []).map(toMemo),
      )
    },
    signal,
  )

const PAUSE_MS = 250
/** Sends a request when the user pauses. A newer one ends the one before. */
export const search: Screen = async (show, _, left) => {
  const list = h('ul')
  const hint = h('p', { role: 'note' })
  const input = h('input', { type: 'search', name: 'q' })
  let latest = new AbortController()
  input.oninput = () => {
    latest.abort()
    latest = new AbortController()
    const signal = AbortSignal.any([latest.signal, left])
    const find = async () => {
      const q = input.value.trim()
      hint.textContent = ''
      if (!q) return
      const { body } = await request(`/books/search?${new URLSearchParams({ q })}`, { signal })
      list.replaceChildren(...body.item.map((found: Book) => toItem(found)))
    }
    const timer = setTimeout(() => {
      find().catch((error: Error) => {
        // A single letter, for example: the service says what it needs.
        if (!signal.aborted) hint.textContent = error instanceof Refused ? error.message : 'Offline'
      })
    }, PAUSE_MS)
    signal.onabort = () => clearTimeout(timer)
  }
  show(h('h1', {}, 'Search'), h('label', {}, 'Title, author, tag or ISBN ', input), hint, list)
  input.focus()
}

export const signInForm: Screen = async (show) => {
  const email = h('input', { type: 'email', autocomplete: 'username', required: true })
  const password = h('input', { type: 'password', autocomplete: 'current-password', required: true })
  const hint = h('p', { role: 'alert' })
  const form = h(
    'form',
    {},
    h('p', {}, h('label', {}, 'E-mail ', email)),
    h('p', {}, h('label', {}, 'Password ', password)),
    h('button', {}, 'Sign in'),
    hint,
  )
  form.onsubmit = async (event) => {
    event.preventDefault()
    await signIn(email.value, password.value).then(
      () => dispatchEvent(new Event('hashchange')),
      (error: Error) => {
        hint.textContent = error.message
      },
    )
  }
  show(h('h1', {}, 'Sign in'), form)
}
