// What members record about their books beyond the contract, and the lists with a cursor.
import { INCLUDES } from '../../../src/library/books/schema.ts'
import { toCursor } from '../../../src/values/cursor.ts'
import { type Endpoint, get, withoutNumbers, write } from './endpoint.ts'
import { DEVICE_ID, FIRST_ACTIVITY, HIGHLIGHTS, type Library } from './seed.ts'

/** The middle of a list, as its first half would lead to. */
const after = (toPosition: (library: Library, middle: number) => unknown) => (library: Library) =>
  `&cursor=${toCursor(toPosition(library, library.books / 2))}`

const MIDDLES: [sort: string, toKey: (middle: number) => unknown][] = [
  ['created', () => null],
  ['title', (middle) => `book ${middle}`],
  ['author', (middle) => `author ${middle % 97}`],
  ['finished', (middle) => new Date((1577836800 + middle * 3600) * 1000).toISOString().slice(0, 19)],
  ['rating', () => 3],
  ['activity', (middle) => FIRST_ACTIVITY + middle * 1000],
]
const sorted = MIDDLES.flatMap(([sort, toKey]): Endpoint[] => {
  const toDeep = after(({ book }, middle) => ({ sort, segment: 0, sortKey: toKey(middle), bookId: book - 2 + middle }))
  return [
    get(`books by ${sort}`, () => `/books?sort=${sort}&size=20`),
    get(`books by ${sort}, deep`, (library) => `/books?sort=${sort}&size=20${toDeep(library)}`),
  ]
})

const common = { common: withoutNumbers }
const examined = { ...common, grows: 'examines books for its filters', ceiling: 2_050 }
const included = { ...common, ceiling: 200 }
const PARTS = INCLUDES.join()
const searched = { ...common, grows: 'searches until a page is full', ceiling: 4_250 }

export const libraryEndpoints: Endpoint[] = [
  write(
    'page',
    'PATCH',
    ({ changedBook }) => `/books/${changedBook}`,
    (n) => ({ currentPage: 301 + (n % 300) }),
  ),
  get('edition', ({ book }) => `/books/${book}/edition`),
  write(
    'edition update',
    'PATCH',
    ({ changedBook }) => `/books/${changedBook}/edition`,
    (n) => ({ publishedYear: n }),
  ),
  get('books by ISBN', () => '/books/by-isbn/9788936434120', common),
  get('lookup of an ISBN', () => '/catalogue/isbn/9788936434120', common),
  get('readings', ({ readBook }) => `/books/${readBook}/readings`, common),
  {
    ...write(
      'reading',
      'POST',
      ({ spareBooks }, n) => `/books/${spareBooks[n % spareBooks.length]}/readings`,
      () => ({ startedAt: '2024-01' }),
    ),
    // A book has at most one open reading.
    untimed: true,
  },
  write(
    'reading update',
    'PATCH',
    ({ readBook }) => `/readings/${readBook}`,
    (n) => ({ rating: 1 + (n % 5) }),
  ),
  get('progress', ({ progressBook }) => `/books/${progressBook}/progress?size=20`, common),
  get(
    'progress, deep',
    ({ progressBook }) => `/books/${progressBook}/progress?size=20&cursor=${toCursor(1_600_000_050_000)}`,
    common,
  ),
  get('sittings', ({ book }) => `/books/${book + 3}/sittings?size=20`, common),
  {
    ...write(
      'progress creation',
      'POST',
      ({ changedBook }) => `/books/${changedBook}/progress`,
      (n) => ({ page: 1 + (n % 300) }),
    ),
    // Concurrent requests arrive in any order, and a step back is a correction.
    common: (body) => withoutNumbers(body).replace('CORRECTION', 'PROGRESS'),
  },
  // Before the pushes, of which not all move the page.
  get('changes of a device', () => `/tokens/${DEVICE_ID}/changes`, common),
  {
    ...write(
      'undo of a device, nothing to undo',
      'POST',
      () => `/tokens/${DEVICE_ID}/undo`,
      () => ({ since: new Date().toISOString() }),
    ),
    status: 200,
  },
  {
    name: 'push of progress',
    status: 200,
    ...common,
    // Each moves the page: 300 pages, forwards.
    untimed: true,
    toRequest: ({ device, document }, n) => ({
      ...{ method: 'PUT', path: '/koreader/syncs/progress', token: device },
      body: JSON.stringify({ document, progress: '12', percentage: (n % 300) / 300, device: 'Kobo', device_id: '1' }),
    }),
  },
  {
    name: 'pull of progress',
    status: 200,
    ...common,
    toRequest: ({ device }) => ({ method: 'GET', path: '/koreader/syncs/progress/document%207', token: device }),
  },
  get('documents', () => '/documents?size=20', common),
  write(
    'book of a document',
    'PUT',
    () => '/documents/document%208/book',
    () => ({ bookId: null }),
  ),
  get('tags of a book', ({ book }) => `/books/${book}/tags`),
  write(
    'tags update',
    'PUT',
    ({ changedBook }) => `/books/${changedBook}/tags`,
    (n) => ({ tags: ['Tag 1', `New ${n}`] }),
  ),
  get('tags', () => '/tags', common),
  get('tagged', () => '/books/tagged?tag=Tag%201&page=1&size=20', common),
  {
    ...write(
      'tag rename',
      'PATCH',
      () => '/tags',
      (n) => ({ from: n % 2 ? 'Tag 2' : 'Renamed', to: n % 2 ? 'Renamed' : 'Tag 2' }),
    ),
    untimed: true,
  },
  get('whole book', ({ memoBook }) => `/books/${memoBook}/whole`, common),
  get('counts of books', () => '/books/counts', {
    ...common,
    grows: 'reads an index entry of each book for each count',
  }),
  get('series', () => '/series/Series?size=20', common),
  get('series, deep', ({ book }) => `/series/Series?size=20&cursor=${toCursor([50, book + 50])}`, common),
  {
    ...write(
      'change of single tags',
      'PATCH',
      ({ changedBook }) => `/books/${changedBook}/tags`,
      (n) => ({ add: [`Other ${n}`], remove: [`Other ${n - 1}`] }),
    ),
    untimed: true,
  },
  get('authors', () => '/authors?size=20', common),
  get('authors, deep', () => `/authors?size=20&cursor=${toCursor('author 50')}`, common),
  ...sorted.map((endpoint) => ({ ...endpoint, ...common })),
  get('books of a status and an author', () => '/books?status=DONE&author=Author%201&sort=title&size=20', examined),
  get('books with a tag', () => '/books?tag=Tag%201&sort=-finished&size=20', examined),
  get('books by status and tags', () => '/books?status=DONE&tag=Tag%203&tag=Tag%204&size=20', examined),
  get('books with a term', () => '/books?q=nowhere&sort=title&size=20', examined),
  get('books being read', () => `/books?status=ING&sort=-activity&size=20&include=${PARTS}`, {
    ...included,
    grows: 'has more to include where books have more',
  }),
  get('books with all parts', () => `/books?sort=created&size=20&include=${PARTS}`, included),
  get('statistics', () => '/stats?year=2018', common),
  get('statistics of daily sittings', () => '/stats?year=2017', common),
  get('years of statistics', () => '/stats', { ...common, grows: 'seeks each year', ceiling: 300 }),
  get('rows of a figure', () => '/stats/rows?year=2018&figure=pagesRead&size=20', common),
  get('picture of a year', () => '/stats/year.svg?year=2018', common),
  write(
    'goal',
    'PUT',
    () => '/goals/2018',
    (n) => ({ metric: 'BOOKS', target: n + 1 }),
  ),
  {
    ...{ name: 'folder of a device', status: 207, common: withoutNumbers },
    toRequest: ({ device }) => ({ method: 'PROPFIND', path: '/dav/', token: device, headers: 'Depth: 1\r\n' }),
  },
  get('links', () => '/links'),
  {
    ...write(
      'link creation',
      'POST',
      () => '/links',
      () => ({ name: 'Shown', kind: 'SHELF' }),
    ),
    untimed: true,
  },
  write(
    'link update',
    'PATCH',
    ({ linkId }) => `/links/${linkId}`,
    (n) => ({ name: `Shown ${n}` }),
  ),
  get('link to books', ({ links }) => `/l/${links.SHELF}.json?size=20`, common),
  get('link to finished books', ({ links }) => `/l/${links.DONE}.json?size=20`, common),
  get('link to books with a tag', ({ links }) => `/l/${links.TAG}.json?size=20`, common),
  get('link to memos', ({ links }) => `/l/${links.MEMOS}?size=20`, common),
  get('link to memos, feed', ({ links }) => `/l/${links.MEMOS}.atom`, common),
  get('link to a calendar', ({ links }) => `/l/${links.CALENDAR}.json?size=20`, common),
  get('link to a calendar, events', ({ links }) => `/l/${links.CALENDAR}.ics`, {
    ...common,
    grows: 'shows up to 500 events',
    ceiling: 2_600,
  }),
  get('link to a year', ({ links }) => `/l/${links.YEAR}`, common),
  {
    ...{ name: 'check of a device’s token', status: 204, common: () => '' },
    toRequest: ({ device }) => ({ method: 'GET', path: '/readwise/api/v2/auth', token: device }),
  },
  {
    ...{ name: 'highlights sent again', status: 200, ...common },
    toRequest: ({ device }) => ({
      method: 'POST',
      path: '/readwise/api/v2/highlights',
      token: device,
      body: HIGHLIGHTS,
    }),
  },
  get('settings', () => '/members/me/settings'),
  get('search of books', () => '/books/search?q=book&size=20', common),
  get('search of memos', () => '/memos/search?q=remembering&size=20', common),
  get(
    'search of memos, deep',
    ({ book, books }) => `/memos/search?q=remembering&size=20&cursor=${toCursor(book + books / 2)}`,
    common,
  ),
  get('memos of all books', () => '/memos?include=book&size=20', common),
  get(
    'memos of all books, deep',
    ({ book, books }) => `/memos?size=20&cursor=${toCursor(['2020-01-01T00:00:00', book + books / 2])}`,
    common,
  ),
  get('memos of all books, no match', () => '/memos?q=nowhere&size=20', searched),
  get('search of books, no match', () => '/books/search?q=nowhere&size=20', searched),
  get('search of books, tags with a word', () => '/books/search?q=tag%20nowhere&size=20', {
    ...{ ...common, grows: 'searches until a page is full, and their tags', ceiling: 10_000 },
  }),
  get('search of memos, no match', () => '/memos/search?q=nowhere&size=20', searched),
  {
    ...{ name: 'change of ten books', status: 200, untimed: true, common: withoutNumbers },
    toRequest: ({ spareBooks, token }) => ({
      ...{ method: 'PATCH', path: '/books', token },
      body: JSON.stringify({ ids: spareBooks.slice(-10), set: { bookStatus: 'DONE', star: 5 }, addTags: ['Tag 2'] }),
    }),
  },
  {
    ...{ name: 'deletion of ten books', status: 200, untimed: true, common: withoutNumbers },
    toRequest: ({ spareBooks, token }) => ({
      ...{ method: 'POST', path: '/books/delete', token },
      body: JSON.stringify({ ids: spareBooks.splice(-10) }),
    }),
  },
  {
    ...{ name: 'merge', status: 200, untimed: true, common: withoutNumbers },
    toRequest: ({ mergedBook, token }) => ({
      ...{ method: 'POST', path: `/books/${mergedBook}/merge`, token },
      body: JSON.stringify({ from: mergedBook - 1 }),
    }),
  },
  // After the searches, which examine the newest books first.
  {
    ...write(
      'registration by ISBN',
      'POST',
      () => '/books',
      () => ({ isbn: '9788936434120' }),
    ),
    untimed: true,
  },
]
