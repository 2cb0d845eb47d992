import { BOOKS } from '../../src/catalogue/providers/sample-books.ts'

export type ShelfMemo = {
  memoType: 'BOOK_CONTENT' | 'SUMMARY' | 'THOUGHT' | 'QUESTION'
  memoBookPage: number
  memoContent: string
  memoAuthority: 'PRIVATE' | 'PUBLIC'
  /** The highlighted line on an attached photo of the page. */
  markedLine?: number
}

type Days = [registeredAgo: number, startedAgo?: number, finishedAgo?: number]

const shelve = (bookStatus: 'YET' | 'ING' | 'DONE', title: string, days: Days, memos: ShelfMemo[]) => {
  const book = BOOKS.find((each) => each.title === title)
  if (!book) throw new Error(`The sample catalogue has no ${title}`)
  const { author, publisher, itemPage } = book
  return { title, author, publisher, itemPage, bookStatus, days, memos }
}

/** A book of the sample catalogue on the demo shelf. */
export type ShelfBook = ReturnType<typeof shelve> & { currentPage: number; star?: number }

const unread = (title: string, registeredAgo: number, memos: ShelfMemo[] = []): ShelfBook => {
  return { ...shelve('YET', title, [registeredAgo], memos), currentPage: 0 }
}
const reading = (title: string, days: Days, currentPage: number, memos: ShelfMemo[] = []): ShelfBook => {
  return { ...shelve('ING', title, days, memos), currentPage }
}
const finished = (title: string, days: Days, star: number, memos: ShelfMemo[] = []): ShelfBook => {
  const book = shelve('DONE', title, days, memos)
  return { ...book, currentPage: book.itemPage, star }
}

const memo =
  (memoType: ShelfMemo['memoType']) =>
  (memoBookPage: number, text: string, more: Partial<ShelfMemo> = {}): ShelfMemo => ({
    memoType,
    memoBookPage,
    memoContent: `<p>${text}</p>`,
    memoAuthority: 'PRIVATE',
    ...more,
  })
const content = memo('BOOK_CONTENT')
const summary = memo('SUMMARY')
const thought = memo('THOUGHT')
const question = memo('QUESTION')
const PUBLIC = { memoAuthority: 'PUBLIC' } as const

/** Forty books in many languages, registered over a little more than two years. */
export const SHELF = [
  finished('Pride and Prejudice', [768, 765, 741], 5, [
    content(1, '“It is a truth universally acknowledged …” – the joke is in who acknowledges it.', { markedLine: 1 }),
    content(20, '“I could easily forgive <em>his</em> pride, if he had not mortified <em>mine</em>.”', PUBLIC),
    summary(150, 'Volume II: the letter turns everything round. Now she reads him, and herself, anew.', PUBLIC),
    thought(221, 'Charlotte’s reasons are better than I thought when I was seventeen.'),
    question(279, 'Would it be as kind a book without the narrator’s irony?', PUBLIC),
  ]),
  finished('1984', [752, 740, 722], 5, [
    summary(90, 'Part one: a diary as a crime.'),
    thought(300, 'The appendix is in the past tense. Hope?', PUBLIC),
  ]),
  finished('Le Petit Prince', [735, 733, 732], 5, [
    content(72, '« L’essentiel est invisible pour les yeux. »', { ...PUBLIC, markedLine: 9 }),
    thought(72, 'Je l’ai relu adulte : c’est le renard qui m’a fait pleurer.'),
  ]),
  unread('Il nome della rosa', 724, [question(1, 'In italiano o in traduzione? Prima provo cento pagine.')]),
  finished('데미안', [701, 690, 671], 4, [
    summary(120, '3장까지: 두 세계 사이에서 흔들리는 싱클레어.'),
    thought(123, '열 번쯤 다시 읽어도 새로울 것 같다.', PUBLIC),
  ]),
  finished('Norwegian Wood', [688, 680, 662], 3, [thought(140, 'Reiko is the best listener in the book.')]),
  finished('Things Fall Apart', [655, 650, 640], 5, [
    summary(125, 'Part one ends with the gun. Everything after follows from exile.', PUBLIC),
    question(209, 'Whose book is the one that the commissioner plans to write?'),
  ]),
  unread('围城', 640),
  finished('소년이 온다', [612, 610, 604], 5, [
    content(95, '이 페이지는 다시 읽을 것.', { markedLine: 6 }),
    summary(130, '장마다 화자가 바뀐다. 2인칭이 가장 아프다.'),
    thought(204, '에필로그를 읽고 한동안 아무것도 할 수 없었다.', PUBLIC),
    question(216, '기억하는 일과 증언하는 일은 어떻게 다를까?'),
  ]),
  finished('채식주의자', [596, 590, 586], 4, [question(180, '영혜의 목소리는 왜 꿈에서만 들릴까?', PUBLIC)]),
  unread('Cien años de soledad', 571, [thought(5, 'Primero hay que dibujar el árbol genealógico.')]),
  finished('The Great Gatsby', [548, 545, 539], 4, [
    content(180, '“So we beat on, boats against the current …”', { ...PUBLIC, markedLine: 14 }),
    thought(120, 'Nick says he is one of the few honest people. He would.'),
  ]),
  finished('Die Verwandlung', [530, 529, 528], 4, [
    content(5, '„Als Gregor Samsa eines Morgens aus unruhigen Träumen erwachte …“'),
    question(60, 'Ab wann hört die Familie auf, ihn „er“ zu nennen?'),
  ]),
  finished('Beloved', [505, 498, 470], 5, [summary(195, 'The three monologues: each voice claims the other two.')]),
  finished('82년생 김지영', [486, 480, 477], 3),
  unread('A hora da estrela', 462),
  finished('コンビニ人間', [441, 438, 436], 4, [
    summary(90, '白羽さんが来てから、主人公の「普通」がずれ始める。'),
    thought(150, '店の音の描写がとても良い。最後は幸せだと思う。', PUBLIC),
  ]),
  finished('Project Hail Mary', [415, 411, 398], 5, [
    thought(240, 'Fist my bump.', PUBLIC),
    question(496, 'How much of the science holds? Look for an interview.'),
  ]),
  unread('고래', 388),
  finished('L’Étranger', [371, 369, 366], 4, [
    summary(90, 'Première partie : le soleil décide. Deuxième partie : on juge autre chose.', PUBLIC),
  ]),
  finished('달러구트 꿈 백화점', [350, 349, 345], 3),
  unread('三体', 322, [question(1, '先读小说，还是先看电视剧？')]),
  finished('Torto Arado', [301, 296, 281], 5, [
    thought(150, 'A faca aparece na primeira página e nunca mais sai de cena.'),
  ]),
  finished('불편한 편의점', [275, 270, 266], 3, [thought(268, '옥수수수염차가 마시고 싶어지는 책.', PUBLIC)]),
  unread('작별하지 않는다', 244),
  finished('To Kill a Mockingbird', [226, 221, 209], 4),
  // Read long before it was registered: no reading dates.
  finished('The Catcher in the Rye', [205], 2),
  unread('모순', 178),
  finished('아몬드', [160, 158, 155], 4, [
    summary(120, '감정을 배우는 이야기이지, 고치는 이야기가 아니다.', PUBLIC),
    question(264, '윤재는 정말 느끼지 못했던 걸까?'),
  ]),
  unread('Ensaio sobre a cegueira', 131),
  unread('Intermezzo', 102),
  finished('Tomorrow, and Tomorrow, and Tomorrow', [96, 90, 71], 4, [
    thought(200, 'A love story in which the love is the work.', PUBLIC),
  ]),
  reading('7년의 밤', [84, 60], 310, [
    summary(180, '호수의 밤을 네 사람의 시점으로 다시 본다.'),
    question(305, '승환은 왜 그 글을 썼을까?'),
  ]),
  unread('O avesso da pele', 66),
  reading('밝은 밤', [49, 38], 212, [thought(88, '증조모의 편지만 모아 다시 읽고 싶다.', PUBLIC)]),
  reading('James', [33, 21], 148, [
    thought(60, 'The lessons in how to speak: funny until they are not.', { markedLine: 4 }),
  ]),
  unread('도시와 그 불확실한 벽', 27),
  reading('혼모노', [18, 9], 95, [summary(60, '표제작까지. 진짜와 가짜를 가르는 사람은 누구인가.')]),
  reading('活着', [12, 6], 70),
  unread('라틴어 수업', 3),
]
