// A plain model of what devices push: docs/decisions/0037-devices.md.

export type Title = { title: string; author: string }
type Event = {
  at: number
  page: number
  kind: 'PROGRESS' | 'FINISHED' | 'CORRECTION' | 'UNDATED'
  device: number | null
  /** Of an event of a device: what its undo restores. */
  pageBefore?: number
  begins?: boolean
}
type Book = Title & {
  bookId: number
  itemPage: number | null
  currentPage: number
  status: 'YET' | 'ING' | 'DONE'
  place: 'library' | 'trash' | 'gone'
  events: Event[]
}
type Position = { at: number; percentage: number; isReplayed: boolean; progress: string }
type Document = {
  title?: Title
  createdAt: number
  book: Book | null
  isByHand: boolean
  /** The device whose push has found the book, and when. */
  link?: { device: number; at: number } | undefined
  positions: Map<number, Position>
}
export type Push = { device: number; document: string; percentage: number; progress: string; title?: Title | undefined }

const REPLAY_MS = 10_000

/** How often each rule was reached. */
export type Reached = Record<string, number>

const fold = ({ title, author }: Title) => {
  const inverted = author.includes(', ') ? author.split(', ').reverse().join(' ') : author
  return [title.toLowerCase(), inverted.toLowerCase()] as const
}

/** @param starts whether the token of each device begins unread books */
export const createModel = (starts: boolean[], reached: Reached) => {
  const books: Book[] = []
  const documents = new Map<string, Document>()
  const reach = (rule: string) => {
    reached[rule] = (reached[rule] ?? 0) + 1
  }
  const isThere = (book: Book | null) => book?.place === 'library'

  const findBook = (wanted: Title) => {
    const [title, author] = fold(wanted)
    const alike = books.filter((book) => book.place === 'library' && fold(book)[0] === title)
    const [fitting, identical] = [
      alike.filter((book) => fold(book)[1] === author),
      alike.filter((book) => book.title === wanted.title && book.author === wanted.author),
    ]
    const [book] = identical.length === 1 ? identical : alike.length === 1 ? fitting : []
    if (!book) {
      if (fitting.length > 0) reach('several fit')
      return undefined
    }
    reach('linked by names')
    return book
  }

  const apply = ({ book }: Document, device: number, { at, percentage, isReplayed }: Position) => {
    if (book?.place !== 'library') return reach('no book')
    if (book.itemPage === null) return reach('no number of pages')
    if (book.status === 'DONE') return reach('finished already')
    if (book.status === 'YET' && !starts[device]) return reach('not begun')
    const page = Math.round(percentage * book.itemPage)
    const latest = book.events.at(-1)
    const isBack = page < book.currentPage
    const isNew = book.status === 'YET'
    if (isBack && (isReplayed || !(isNew || latest?.device === device))) return reach('not back')
    if (page !== book.currentPage) {
      const kind = isReplayed ? 'UNDATED' : isBack && !isNew ? 'CORRECTION' : 'PROGRESS'
      reach(`event ${kind}`)
      const undo = { pageBefore: book.currentPage, begins: book.status === 'YET' && page > 0 }
      book.events.push({ at: Math.max(at, (latest?.at ?? 0) + 1), page, kind, device, ...undo })
      book.currentPage = page
    } else reach('same page')
    if (book.status === 'YET' && page > 0) {
      reach('begun')
      book.status = 'ING'
    }
  }

  const lastOf = (device: number) => {
    const all = [...documents].flatMap(([name, document]) => {
      const position = document.positions.get(device)
      return position ? [{ name, document, position }] : []
    })
    return all.sort((one, other) => other.position.at - one.position.at)[0]
  }

  return {
    books,
    documents,
    push: (now: number, { device, document: name, percentage, progress, title }: Push) => {
      const last = lastOf(device)
      const isSame = last?.name === name && last.position.percentage === percentage
      const isReplayed = last !== undefined && now - last.position.at <= REPLAY_MS && !isSame
      if (isReplayed) {
        reach('replayed')
        last.position.isReplayed = true
        const { book } = last.document
        // What is in the trash stays as it was.
        for (const event of book?.place === 'library' ? book.events : []) {
          if (event.device === device && event.at >= last.position.at) event.kind = 'UNDATED'
        }
      }
      const document: Document = documents.get(name) ?? {
        ...{ createdAt: now, book: null, isByHand: false, positions: new Map() },
      }
      documents.set(name, document)
      if (title) document.title = title
      const isNone = document.isByHand && !document.book
      if (title && !isNone && (!document.book || document.book.place === 'gone')) {
        const book = findBook(title)
        if (book) Object.assign(document, { book, isByHand: false, link: { device, at: now } })
      }
      const known = document.positions.get(device)
      const isRepeated = known?.percentage === percentage && now - known.at <= REPLAY_MS
      if (isRepeated) reach('repeated')
      const position = isRepeated ? { ...known, progress } : { at: now, percentage, isReplayed, progress }
      document.positions.set(device, position)
      apply(document, device, position)
    },
    link: (name: string, book: Book | null) => {
      const document = documents.get(name)
      if (!document) return
      reach(book ? 'linked by hand' : 'none')
      Object.assign(document, { book, isByHand: true, link: undefined })
      const [newest] = [...document.positions].sort(([, one], [, other]) => other.at - one.at)
      if (book && newest) apply(document, ...newest)
    },
    /** A member's own progress. */
    add: (now: number, book: Book, page: number, finish: boolean) => {
      const latest = book.events.at(-1)
      const isBack = page < (latest?.page ?? book.currentPage) && !(book.status === 'YET' && page > 0)
      book.events.push({
        at: Math.max(now, (latest?.at ?? 0) + 1),
        ...{ page, kind: isBack ? 'CORRECTION' : 'PROGRESS', device: null },
      })
      book.currentPage = page
      if (book.status === 'YET' && page > 0) book.status = 'ING'
      if (!finish || book.status === 'DONE') return
      book.status = 'DONE'
      book.events.push({ at: Math.max(now, (book.events.at(-1)?.at ?? 0) + 1), page, kind: 'FINISHED', device: null })
    },
    /** Takes back what a device did since a time. Returns how many events and links, and the books whose reading it leaves. */
    undo: (device: number, since: number) => {
      const undone = { progress: 0, documents: 0, kept: [] as number[] }
      for (const book of books.filter(isThere)) {
        const own = book.events.filter((event) => event.device === device && event.at >= since)
        const [oldest] = own
        if (!oldest) continue
        reach('undone events')
        const begins = own.filter((event) => event.begins)
        const isContinued = (begin: Event) =>
          book.events.some((event) => event.at > begin.at && event.device !== device)
        if (book.status === 'ING' && begins.some((begin) => !isContinued(begin))) {
          reach('ended reading')
          book.status = 'YET'
        }
        if (begins.length > 0 && book.status !== 'YET') undone.kept.push(book.bookId)
        book.events = book.events.filter((event) => !own.includes(event))
        book.currentPage = book.events.at(-1)?.page ?? oldest.pageBefore ?? 0
        undone.progress += own.length
      }
      for (const [name, document] of documents) {
        const { link, positions } = document
        if (link?.device === device && link.at >= since) {
          reach('undone links')
          Object.assign(document, { book: null, link: undefined })
          undone.documents += 1
        }
        if ((positions.get(device)?.at ?? 0) >= since) positions.delete(device)
        const isOrphan = positions.size === 0 && !document.isByHand && !document.book
        if (isOrphan && document.createdAt >= since) documents.delete(name)
      }
      return undone
    },
    /** What the service must show. */
    state: (name: string) => {
      const { book, isByHand } = documents.get(name) as Document
      if (isThere(book)) return { state: 'LINKED', bookId: book?.bookId }
      return { state: isByHand && !book ? 'NONE' : 'WAITING', bookId: undefined }
    },
    pulled: (name: string, device: number) => {
      const others = [...(documents.get(name)?.positions ?? [])].filter(([other]) => other !== device)
      return others.sort(([, one], [, other]) => other.at - one.at)[0]?.[1]
    },
  }
}
export type Model = ReturnType<typeof createModel>
