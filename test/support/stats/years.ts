import type { YearPicture } from '../../../src/library/stats/picture/draw.ts'

const TITLES = {
  Latin: [
    'Middlemarch',
    'The Left Hand of Darkness',
    'Demian',
    'If on a winter’s night a traveler',
    'Pachinko',
    'The Brothers Karamazov',
    'Kindred',
    'Der Zauberberg',
    'Train Dreams',
    'Cien años de soledad',
    'Piranesi',
    'The Hitchhiker’s Guide to the Galaxy: The Complete Trilogy of Five',
    'Convenience Store Woman',
  ],
  Korean: [
    '채식주의자',
    '82년생 김지영',
    '소년이 온다',
    '난장이가 쏘아올린 작은 공',
    '아몬드',
    '토지 1부 1권',
    '우리가 빛의 속도로 갈 수 없다면',
  ],
  Japanese: [
    'ノルウェイの森',
    'コンビニ人間',
    '吾輩は猫である',
    '雪国',
    '銀河鉄道の夜',
    'ざんねんないきもの事典（おもしろい！進化のふしぎ）',
  ],
  Arabic: [
    'موسم الهجرة إلى الشمال',
    'ألف ليلة وليلة',
    'رجال في الشمس',
    'ثلاثية القاهرة: بين القصرين (1956)',
    'النبي',
    'זיכרונות אחרי מותי',
  ],
}
export const HOSTILE = [
  '</text><script>alert(1)</script>',
  '<image href="https://example.com/x.png"/>&amp;&lt;&#60;&nbsp;]]>',
  'W'.repeat(5000),
  '끝'.repeat(5000),
  '\u200b\u200d\ufeff\u2060'.repeat(800),
  '\u202e\u2067\u200fevil\u202e',
  `Z${'\u0310\u0343\u0301\u0326'.repeat(500)}algo`,
  'lone \ud800 and \udc00',
  'null \u0000 bell \u0007 \uffff \ufffe \u0085\u2028 line\n\n\ttab',
  '\ufdfd'.repeat(40),
  '👨‍👩‍👧‍👦'.repeat(60),
  '𒐫'.repeat(50),
  '',
]

const toPages = (index: number) => 120 + 8 * Math.round(((index * 0.618) % 1) ** 3 * 60 + ((index * 0.414) % 1) * 40)

/** The year of a member who read these titles, about evenly over the year. */
export const toYear = (titles: string[], change: Partial<YearPicture> = {}): YearPicture => {
  const spines = titles.map((title, index) => ({ title, pages: toPages(index) }))
  const months = Array.from({ length: 12 }, (_, index) => ({ month: index + 1, books: 0 }))
  for (const index of titles.keys()) {
    const month = months[Math.floor((((index * 7) % titles.length) / titles.length) ** 0.8 * 12)]
    if (month) month.books++
  }
  return {
    year: 2026,
    books: titles.length,
    pagesFinished: spines.reduce((sum, { pages }) => sum + pages, 0),
    minutesRead: 0,
    months,
    bestRated: titles
      .slice(0, 10)
      .map((title, index) => ({ title, author: index === 2 ? null : title, rating: 5 - index / 4 })),
    spines,
    ...change,
  }
}

const ALL = Object.values(TITLES).flat()
const take = (count: number) => Array.from({ length: count }, (_, index) => ALL[(index * 5) % ALL.length] ?? '')

export const YEARS: Record<string, YearPicture> = {
  none: toYear([]),
  one: toYear(['Demian']),
  latin: toYear(TITLES.Latin),
  korean: toYear(TITLES.Korean),
  japanese: toYear(TITLES.Japanese),
  arabic: toYear(TITLES.Arabic),
  mixed: toYear(take(44)),
  many: toYear(take(400)),
  hostile: toYear(HOSTILE),
  unknown: toYear(take(20), { spines: take(20).map((title, index) => ({ title, pages: index % 3 ? null : 240 })) }),
  large: toYear(take(20), {
    books: 12_345_678,
    pagesFinished: 858_993_458_800,
    spines: [2 ** 31 - 1, 1, 0, null, 300].map((pages) => ({ title: 'A book', pages })),
  }),
}
