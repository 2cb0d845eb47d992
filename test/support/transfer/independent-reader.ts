// Reads the files in test/fixtures/imports/real in the plainest way, without code of src: what an import must find in them.

type Cells = Record<string, string>

/** What a row says about a book. Null if nothing. */
export type Expected = {
  title: string
  author: string | null
  isbn: string | null
  itemPage: number | null
  publishedYear: number | null
  publisher: string | null
  addedAt: string | null
  status: string | null
  quarters: number | null
  /** Start and finish of each reading, oldest first. */
  readings: (string | null)[][]
  tags: string[]
  memos: string[]
}

/** RFC 4180. */
export const parseCsv = (text: string) => {
  const rows: string[][] = [['']]
  const tokens = text.replace(/^\ufeff/, '').match(/"(?:[^"]|"")*"|,|\r?\n|[^",\r\n]+|["\r]/g) ?? []
  for (const token of tokens) {
    const row = rows.at(-1) as string[]
    if (token === ',') row.push('')
    else if (token === '\n' || token === '\r\n') rows.push([''])
    else row.push(`${row.pop()}${/^".*"$/s.test(token) ? token.slice(1, -1).replaceAll('""', '"') : token}`)
  }
  return rows.filter((row) => row.join('') !== '')
}
const toRows = ([header = [], ...rows]: string[][]): Cells[] =>
  rows.map((row) => Object.fromEntries(header.map((name, at) => [name, row[at] ?? ''])))

const list = (cell = '', separator: string | RegExp = ',') =>
  cell
    .split(separator)
    .map((item) => item.trim())
    .filter((item) => item !== '')
const join = (names: string[]) =>
  [...new Set(names.map((name) => name.trim().split(/\s+/).join(' ')))].join(', ') || null
const numberOf = (cell = '') => (/^\d+/.test(cell) && Number.parseInt(cell, 10) > 0 ? Number.parseInt(cell, 10) : null)
const dayOf = (cell = '') => cell.replace(/[[\]]/g, '').replaceAll('/', '-').trim() || null
const quartersOf = (cell = '') => (Number(cell) > 0 ? Number(cell) * 4 : null)
const filled = (...texts: (string | undefined)[]) =>
  texts.map((text) => text?.trim() ?? '').filter((text) => text !== '')

const isValid13 = (isbn: string) =>
  /^97[89]\d{10}$/.test(isbn) &&
  [...isbn].reduce((sum, digit, at) => sum + Number(digit) * (at % 2 ? 3 : 1), 0) % 10 === 0
const valueOf10 = (character: string) => (character === 'X' ? 10 : Number(character))
const isValid10 = (isbn: string) =>
  /^\d{9}[\dX]$/.test(isbn) && [...isbn].reduce((sum, digit, at) => sum + valueOf10(digit) * (10 - at), 0) % 11 === 0
/** The first valid ISBN of some cells, as ISBN-13. */
const isbnOf = (...cells: (string | undefined)[]) => {
  for (const cell of cells) {
    const isbn = (cell ?? '').replace(/[="[\]]/g, '')
    if (isValid13(isbn)) return isbn
    const core = `978${isbn.slice(0, 9)}`
    if (isValid10(isbn)) return Array.from({ length: 10 }, (_, digit) => `${core}${digit}`).find(isValid13) ?? null
  }
  return null
}

const GOODREADS_SHELVES: Record<string, string> = { read: 'DONE', 'currently-reading': 'ING', 'to-read': 'YET' }

const goodreads = (row: Cells): Expected => {
  const shelf = row['Exclusive Shelf'] ?? ''
  const finish = dayOf(row['Date Read'])
  const dates = list(row.read_dates, ';').map((reading) => reading.split(',').map((date) => date || null))
  const readings = dates.length > 0 ? dates : finish ? [[null, finish]] : []
  // A book that is being read has a reading that goes on.
  if (shelf === 'currently-reading' && readings.length > 0) readings.push([null, null])
  return {
    title: (row.Title ?? '').trim(),
    author: join([row.Author ?? '', ...list(row['Additional Authors'])]),
    isbn: isbnOf(row.ISBN13, row.ISBN),
    itemPage: numberOf(row['Number of Pages']),
    publishedYear: numberOf(row['Year Published']) ?? numberOf(row['Original Publication Year']),
    publisher: row.Publisher?.trim() || null,
    addedAt: dayOf(row['Date Added']),
    status: GOODREADS_SHELVES[shelf] ?? null,
    quarters: quartersOf(row['My Rating']),
    readings,
    tags: list(row.Bookshelves).filter((tag) => !(tag in GOODREADS_SHELVES)),
    memos: filled(row['My Review'], row['Private Notes']),
  }
}

const STORYGRAPH_STATUSES: Record<string, string> = {
  read: 'DONE',
  'did-not-finish': 'DONE',
  'currently-reading': 'ING',
  paused: 'ING',
  'to-read': 'YET',
}

const storygraph = (row: Cells): Expected => ({
  title: (row.Title ?? '').trim(),
  author: join(list(row.Authors)),
  isbn: isbnOf(row['ISBN/UID']),
  itemPage: null,
  publishedYear: null,
  publisher: null,
  addedAt: dayOf(row['Date Added']),
  status: STORYGRAPH_STATUSES[row['Read Status'] ?? ''] ?? null,
  quarters: quartersOf(row['Star Rating']),
  readings: (row['Dates Read'] ? list(row['Dates Read']) : list(row['Last Date Read']))
    .map((session) => [null, ...session.split('-').map(dayOf)].slice(-2))
    .sort(([, one], [, other]) => `${one}`.localeCompare(`${other}`)),
  tags: list(row.Tags),
  memos: filled(row.Review),
})

const natural = (name: string) => {
  const parts = list(name)
  return parts.length === 2 ? `${parts[1]} ${parts[0]}` : name
}

/** The status by the dates. All of these files have only the collection of owned books, and those on the right. */
const COLLECTIONS: Record<string, string> = { 'To read': 'YET', 'Currently reading': 'ING', 'Read but unowned': 'DONE' }
const statusOf = (start: string | null, finish: string | null, collections: string[]) => {
  if (start || finish) return finish ? 'DONE' : 'ING'
  return collections.map((name) => COLLECTIONS[name]).find(Boolean) ?? null
}

const librarything = (row: Cells): Expected => {
  const [start, finish] = [dayOf(row['Date Started']), dayOf(row['Date Read'])]
  const roles = (row['Secondary Author Roles'] ?? '').split('|')
  const others = (row['Secondary Author'] ?? '').split('|').filter((_, at) => ['', 'Author'].includes(roles[at] ?? ''))
  const collections = list(row.Collections)
  const status = statusOf(start, finish, collections)
  return {
    title: (row.Title ?? '').trim(),
    author: join([row['Primary Author'] ?? '', ...others].map(natural).filter((name) => name !== '')),
    isbn: isbnOf(row.ISBN, ...list(row.ISBNs?.replace(/[[\]]/g, ''))),
    itemPage: numberOf(row['Page Count']),
    publishedYear: numberOf(row.Date),
    publisher: row.Publication?.split(' (')[0]?.trim() || null,
    addedAt: dayOf(row['Entry Date']) ?? dayOf(row.Acquired),
    status,
    quarters: quartersOf(row.Rating),
    readings: start || finish ? [[start, finish]] : [],
    tags: [...collections.filter((name) => name !== 'Your library' && !COLLECTIONS[name]), ...list(row.Tags)],
    memos: filled(row.Review, row.Comment, row['Private Comment']),
  }
}

const ENTITIES: Record<string, string> = {
  amp: '&',
  quot: '"',
  rsquo: '’',
  eacute: 'é',
  oacute: 'ó',
  aring: 'å',
  auml: 'ä',
  ouml: 'ö',
  '#039': "'",
}
const decode = (text: string) => text.replace(/&(#?\w+);/g, (entity, name) => ENTITIES[name] ?? entity)
type LibraryThingBook = Record<string, unknown> & { authors: { fl?: string; role?: string }[] }
const textOf = (value: unknown) => (typeof value === 'string' ? decode(value) : '')

const librarythingJson = (book: LibraryThingBook): Expected => {
  const { authors } = book
  const isAuthor = ({ role = '' }) => ['', 'Author'].includes(role)
  const named = authors.filter(isAuthor).map(({ fl }) => textOf(fl))
  const isbns = typeof book.isbn === 'object' ? Object.values(book.isbn ?? {}) : [book.isbn]
  const [start, finish] = [dayOf(textOf(book.datestarted)), dayOf(textOf(book.dateread))]
  const collections = Array.isArray(book.collections) ? book.collections.map(textOf) : []
  return {
    title: textOf(book.title),
    author: join(named.length > 0 ? named : [natural(textOf(book.primaryauthor))]),
    isbn: isbnOf(...isbns.map(textOf), textOf(book.originalisbn)),
    itemPage: /^\d+ ?$/.test(textOf(book.pages)) ? numberOf(textOf(book.pages)) : null,
    publishedYear: numberOf(textOf(book.date)),
    publisher: textOf(book.publication).split(' (')[0]?.trim() || null,
    addedAt: dayOf(textOf(book.entrydate)),
    status: statusOf(start, finish, collections),
    quarters: typeof book.rating === 'number' ? book.rating * 4 : null,
    readings: start || finish ? [[start, finish]] : [],
    tags: [
      ...collections.filter((name) => name !== 'Your library' && !COLLECTIONS[name]),
      ...(Array.isArray(book.tags) ? book.tags.map(textOf) : []),
    ],
    memos: filled(...[book.review, book.comment, book.privatecomment].map((text) => String(text ?? ''))),
  }
}

const instantOf = (milliseconds: number) => new Date(milliseconds).toISOString().slice(0, 19)
const ENGLISH_TIME = /^(\w+) (\d\d), (\d{4}) (\d\d:\d\d)$/

/** Activities of Libby, newest first, as books of which nobody said whether they were read. */
const libby = (rows: Cells[]): Expected[] =>
  Object.values(Object.groupBy(rows.toReversed(), ({ title, author }) => `${title}|${author}`)).map((found) => {
    const all = (found ?? []).toSorted((one, other) => `${one.timestamp}`.localeCompare(`${other.timestamp}`))
    const last = all.findLast(({ activity }) => /^(?:Borrowed|Returned)$/.test(activity ?? '')) ?? all.at(-1)
    const [first = {}] = all
    return {
      ...{
        title: first.title ?? '',
        author: first.author ?? null,
        isbn: isbnOf(first.isbn),
        publisher: first.publisher ?? null,
      },
      ...{ itemPage: null, publishedYear: null, status: null, quarters: null, readings: [], memos: [] },
      addedAt: all.map(({ timestamp }) => timestamp).find(Boolean) ?? null,
      tags: [last?.activity ?? ''],
    }
  })
const libbyCsv = (rows: Cells[]) =>
  libby(
    rows.map((row) => {
      const [, month = '', day, year, time] = ENGLISH_TIME.exec(row.timestamp ?? '') ?? []
      return { ...row, timestamp: month && `${year}-${two(MONTHS.indexOf(month) + 1)}-${day}T${time}:00` }
    }),
  )
type LibbyItem = { title: { text: string }; timestamp: number; isbn?: string } & Record<
  'author' | 'publisher' | 'activity',
  string
>
const libbyJson = ({ timeline }: { timeline: LibbyItem[] }) =>
  libby(
    timeline.map(({ title, timestamp, author, publisher, activity, isbn = '' }) => ({
      ...{ title: title.text, timestamp: instantOf(timestamp), author, publisher, activity, isbn },
    })),
  )

type DoubanMark = {
  comment: string
  rating: { value: number } | null
  tags: string[]
  create_time: string
  subject: { title: string; book_subtitle: string } & Record<'author' | 'press' | 'pages' | 'pubdate', string[]>
}
const douban = ({ comment, rating, tags, create_time, subject }: DoubanMark): Expected => ({
  title: [subject.title, subject.book_subtitle].filter(Boolean).join(': '),
  author: subject.author.map((name) => name.replace(/^\(.*\)/, '')).join(', '),
  isbn: null,
  itemPage: Number.parseInt(subject.pages[0] ?? '', 10),
  publishedYear: Number.parseInt(subject.pubdate[0] ?? '', 10),
  publisher: subject.press.join(', '),
  addedAt: create_time.replace(' ', 'T'),
  // Of these files, all were read.
  status: 'DONE',
  quarters: rating && rating.value * 4,
  readings: [],
  tags,
  memos: filled(comment),
})

/** The books of a file, by the first part of its name. */
export const readBooks = (name: string, text: string): Expected[] => {
  if (name.startsWith('libby'))
    return name.endsWith('.json') ? libbyJson(JSON.parse(text)) : libbyCsv(toRows(parseCsv(text)))
  if (name.startsWith('douban')) return JSON.parse(text).map(douban)
  if (name.endsWith('.json')) return Object.values<LibraryThingBook>(JSON.parse(text)).map(librarythingJson)
  if (name.endsWith('.tsv')) {
    const rows = text.split('\n').filter(Boolean)
    return toRows(rows.map((row) => row.split('\t'))).map(librarything)
  }
  return toRows(parseCsv(text)).map(name.startsWith('goodreads') ? goodreads : storygraph)
}

/** A highlight or a note. */
export type ExpectedClipping = {
  title: string
  kind: 'highlight' | 'note' | 'bookmark'
  text: string
  page: number
  location: string
  createdAt: string | null
}

const KINDS = [
  ['bookmark', /Bookmark|закладка|ブックマーク|书签/],
  ['note', /Note|заметка|メモ|笔记/],
  ['highlight', /Highlight|выделенный|ハイライト|标注/],
] as const
const MONTHS = 'January February March April May June July August September October November December'.split(' ')
const RUSSIAN = 'января февраля марта апреля мая июня июля августа сентября октября ноября декабря'.split(' ')
const two = (value: number | string) => `${value}`.padStart(2, '0')

const timeOf = (text: string) => {
  const [, shown = '', minute, second] = /(\d+):(\d\d):(\d\d)/.exec(text) ?? []
  const isAfternoon = /PM|下午/.test(text)
  const hour = /[AP]M|[上下]午/.test(text) ? (Number(shown) % 12) + (isAfternoon ? 12 : 0) : Number(shown)
  const names = text.match(/\p{L}+/gu) ?? []
  const month = names
    .map((name) => Math.max(MONTHS.indexOf(name), RUSSIAN.indexOf(name)) + 1)
    .find((found) => found > 0)
  const numbers = text.slice(0, text.indexOf(`${shown}:`)).match(/\d+/g) ?? []
  const year = numbers.find((number) => number.length === 4)
  const [day, other] = numbers.filter((number) => number !== year)
  const date = month ? [year, two(month), two(day ?? '')] : [year, two(day ?? ''), two(other ?? '')]
  return `${date.join('-')}T${two(hour)}:${minute}:${second}`
}

/** The clippings of a Kindle. */
export const readClippings = (text: string): ExpectedClipping[] =>
  text
    .replaceAll('\r\n', '\n')
    .replaceAll('\ufeff', '')
    .split('==========\n')
    .filter((block) => block.trim() !== '')
    .map((block) => {
      const [title = '', metadata = '', , ...lines] = block.split('\n')
      const [, page] = /(?:page |странице |第 )(\d+)|^- (\d+)ページ/.exec(metadata) ?? []
      const japanesePage = /^- (\d+)ページ/.exec(metadata)?.[1]
      const place = /(?:ocation|месте|Место|位置(?: ?No\.)?) #?(\d+)/.exec(metadata)
      return {
        title: title.trim(),
        kind: KINDS.find(([, words]) => words.test(metadata))?.[0] ?? 'bookmark',
        text: lines.join('\n').trim(),
        page: Number(page ?? japanesePage ?? 0),
        location: place?.[1] ?? '',
        createdAt: timeOf(metadata.slice(metadata.lastIndexOf('|'))),
      }
    })

/** The highlights of Readwise: the title, the text with its note, the page and the time. */
export const readHighlights = (text: string) =>
  toRows(parseCsv(text)).map((row) => ({
    title: row['Book Title'] ?? '',
    author: join([row['Book Author'] ?? '']),
    content: filled(row.Highlight, row.Note).join('\n\n'),
    page: row['Location Type'] === 'page' ? Number(row.Location) : 0,
    createdAt: row['Highlighted at']?.replace(' ', 'T').slice(0, 19) ?? null,
  }))

/** A highlight or note of a book. */
type Note = { content: string; page: number; createdAt: string | null }
type Annotated = { title: string; author: string; notes: Note[] }

const plain = (html = '') => decode(html.replace(/<.*?>/gs, '')).trim()

/** A notebook of Kindle's apps. Of these files, each note is on the highlight before it. */
export const readNotebook = (html: string): Annotated => {
  const elements = [...html.matchAll(/class=["'](\w+)["']>(.*?)<\/(?:div|h\d)>/gs)]
  const of = (name: string) => elements.filter(([, found]) => found === name).map(([, , text]) => text ?? '')
  const notes: Note[] = []
  for (const [at, heading] of of('noteHeading').entries()) {
    const content = plain(of('noteText')[at])
    const previous = notes.at(-1)
    if (previous && plain(heading).startsWith('Note')) previous.content += `\n\n${content}`
    else notes.push({ content, page: Number(/Page (\d+)/.exec(heading)?.[1] ?? 0), createdAt: null })
  }
  return { title: plain(of('bookTitle')[0]), author: plain(of('authors')[0]), notes }
}

/** A metadata file of KOReader: four blanks for each level. */
export const readSidecar = (lua: string): Annotated => {
  const textOf = (part: string, key: string) =>
    (new RegExp(`\\["${key}"\\] = "((?:[^"\\\\]|\\\\[\\s\\S])*)"`).exec(part)?.[1] ?? '').replace(/\\([\s\S])/g, '$1')
  const [, props = ''] = lua.split('["doc_props"] = {')
  const [, annotations = ''] = (lua.split('\n    },\n')[0] ?? '').split('["annotations"] = {')
  const notes = annotations
    .split(/\n {8}\[\d+\] = \{/)
    .slice(1)
    .map((part) => ({
      content: [textOf(part, 'text'), textOf(part, 'note')].filter(Boolean).join('\n\n'),
      page: Number(/"pageno"\] = (\d+)/.exec(part)?.[1]),
      createdAt: textOf(part, 'datetime').replace(' ', 'T'),
    }))
  return { title: textOf(props, 'title'), author: textOf(props, 'authors').replaceAll('\n', ', '), notes }
}
