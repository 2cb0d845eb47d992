import * as z from 'zod/mini'
import { type FeatureReference, json } from '../../http/description/feature-reference'
import { MAX_COVER, MAX_NAME, MAX_TAG } from '../../values/contract'
import { BookFormat, Int32, int } from '../../values/fields'
import { named, namedObject } from '../../values/named'
import { Id, Instant, LocalTime, listOf, listUpTo, textUpTo } from '../../values/responses'
import { MAX_LANGUAGE } from '../editions/schema'
import { FIGURES, MAX_YEAR, MIN_YEAR } from './schema'

const Year = int(MIN_YEAR, MAX_YEAR)
const Count = z.int().check(z.minimum(0))
const Rating = z.number().check(z.minimum(0.25), z.maximum(5), z.multipleOf(0.25))
const LocalDate = z.iso.date()
const ofName = <Name extends string>(id: string, name: Name, schema: z.ZodMiniType<string>) =>
  listUpTo(
    10,
    namedObject(id, { [name]: schema, books: Count } as Record<Name, z.ZodMiniType<string>> & { books: typeof Count }),
  )

const RatedBook = namedObject('RatedBook', {
  bookId: Id,
  title: textUpTo(MAX_NAME),
  author: z.nullable(textUpTo(MAX_NAME)),
  pages: z.nullable(Int32),
  rating: z.nullable(Rating),
})

const Month = {
  month: int(1, 12),
  books: Count,
  readings: Count,
  pagesFinished: Count,
  pagesRead: Count,
  minutesRead: Count,
}
const Averages = { count: Count, mean: z.nullable(z.number()), median: z.nullable(z.number()) }

const YearStats = namedObject('YearStats', {
  year: Year,
  books: Count,
  readings: Count,
  rereads: Count,
  stopped: Count,
  paused: Count,
  pagesFinished: Count,
  pagesRead: Count,
  minutesRead: Count,
  ratings: namedObject('RatingStats', {
    ...Averages,
    distribution: listUpTo(20, namedObject('RatingCount', { rating: Rating, count: Count })),
  }),
  daysToFinish: namedObject('DaysToFinish', Averages),
  months: z.array(namedObject('MonthStats', Month)).check(z.length(12)),
  longest: z.nullable(RatedBook),
  shortest: z.nullable(RatedBook),
  bestRated: listUpTo(10, RatedBook),
  authors: ofName('AuthorBooks', 'author', textUpTo(MAX_NAME)),
  tags: ofName('TagBooks', 'tag', textUpTo(MAX_TAG)),
  languages: ofName('LanguageBooks', 'language', textUpTo(MAX_LANGUAGE)),
  formats: ofName('FormatBooks', 'format', BookFormat),
  memos: namedObject('MemoCounts', { BOOK_CONTENT: Count, SUMMARY: Count, THOUGHT: Count, QUESTION: Count }),
  longestDay: z.nullable(namedObject('LongestDay', { date: LocalDate, minutes: Count })),
  daysRead: Count,
  longestStreak: Count,
  currentStreak: Count,
  days: listUpTo(366, namedObject('ReadingDay', { date: LocalDate, pages: Count, minutes: Count })),
  undated: Count,
  backlog: namedObject('Backlog', { books: Count, oldestCreatedAt: z.nullable(LocalTime) }),
})

const StatsYears = namedObject('StatsYears', { years: z.array(Year) })

const StatsRow = namedObject('StatsRow', {
  bookId: Id,
  title: textUpTo(MAX_NAME),
  cover: z.nullable(textUpTo(MAX_COVER)),
  date: textUpTo(10),
  readingId: z.nullable(Id),
  memoId: z.nullable(Id),
  at: z.nullable(Instant),
  amount: z.nullable(z.number()),
  name: z.nullable(textUpTo(MAX_NAME)),
})
export type StatsRow = z.infer<typeof StatsRow>

const FINISH = 'a reading with the outcome `FINISHED` whose `finishedAt` is in the year'

/** What each figure counts: the definitions that the tests recompute. */
const DEFINITIONS: Record<(typeof FIGURES)[number], string> = {
  books: 'the different books among the finishes',
  readings: `the finishes: each is ${FINISH}`,
  rereads:
    'the finishes of books that have another reading with the outcome `FINISHED` and an earlier `finishedAt`, compared as text, with unknown as the earliest, or the same and a smaller `readingId`',
  stopped: 'the readings with the outcome `STOPPED` whose `finishedAt` is in the year',
  paused: 'the readings that are paused now and whose `startedAt` is in the year',
  pagesFinished: 'the sum of the present `itemPage` of the books of all finishes, each time anew; unknown is 0',
  pagesRead:
    'the sum of the pages that `PROGRESS` events add: from the page of the book’s previous event to their own, or from 0 if there is no previous one or its page was higher, as when a new reading begins; pages above that of a later `CORRECTION` in the same reading and year do not count',
  minutesRead:
    'how long books of the library were read, as `listSittings` lists it: what devices recorded and, on the days of a book without that, the `minutes` of progress events of any kind but `UNDATED`; added up in seconds, and rounded to minutes once, but at least 1 if there is any',
  ratings: 'the ratings of the finishes that have one',
  daysToFinish:
    'the days from `startedAt` to `finishedAt`, both included, of the finishes where both are full dates and in order',
  longest: 'of the finished books with at least one page, the one with the most pages',
  shortest: 'of the finished books with at least one page, the one with the fewest pages',
  bestRated: 'the ten finished books with the best ratings; of several finishes of a book, the best rating counts',
  authors:
    'the ten authors with the most different finished books, regardless of case and marks, in the spelling of the first finish',
  tags: 'the ten tags with the most different finished books',
  languages: 'the ten languages with the most different finished books',
  formats: 'the formats of the finishes, or else of their books, with the number of different books',
  memos: 'the memos created in the year, by type',
  daysRead: 'the days of the year with a progress event of any kind but `UNDATED`, a memo, or reading time of a device',
  longestStreak:
    'the most days read in a row within the year, where one day without reading between two does not count and does not end it; of several, the first',
  currentStreak:
    'the days of the last streak of the year if its last day is today or at most two days ago, otherwise 0',
  backlog: 'the books that are `YET` now, of any year',
}
const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

export const statsReference: FeatureReference = {
  tag: 'Statistics',
  schemas: {
    AuthorBooks: 'An author, and how many of the finished books are theirs.',
    Backlog: sentence(DEFINITIONS.backlog),
    DaysToFinish: sentence(DEFINITIONS.daysToFinish),
    Figure: `A figure of the statistics.\n\n${FIGURES.map((figure) => `- \`${figure}\`: ${DEFINITIONS[figure]}`).join('\n')}`,
    FormatBooks: 'A format, and how many books were finished in it.',
    LongestDay: 'The day on which books were read for the longest time.',
    LanguageBooks: 'A language, and how many of the finished books are in it.',
    MemoCounts: sentence(DEFINITIONS.memos),
    MonthStats: 'The figures of a month.',
    RatedBook: 'A finished book.',
    RatingCount: 'How many finishes have a rating.',
    RatingStats: sentence(DEFINITIONS.ratings),
    ReadingDay: 'A day with a progress event, a memo or reading time of a device.',
    Stats: 'The statistics of a year or, without `year`, the years that have any.',
    StatsRow:
      'A row that a figure counted: a reading, a progress event, a memo, how long a book was read on a day, or for `backlog` a book.',
    StatsRowList: 'A page of the rows that a figure counted.',
    StatsYears: 'The years with anything to count.',
    TagBooks: 'A tag, and how many of the finished books have it.',
    YearStats:
      'The statistics of a year. A finish is a reading with the outcome `FINISHED` whose `finishedAt` is in the year. Lists have at most ten entries, ties by title or name in the order of their UTF-16 code units, then by `bookId`. Means and medians are rounded to two decimals, and null without values.',
  },
  properties: {
    ...Object.fromEntries(FIGURES.map((figure) => [`YearStats.${figure}`, sentence(DEFINITIONS[figure])])),
    undated: 'Finished books, without stopped ones, whose `finishedAt` is unknown: they count in no year.',
    'AuthorBooks.author': 'The author.',
    'FormatBooks.format': 'The format.',
    'LanguageBooks.language': 'The language.',
    'TagBooks.tag': 'The tag.',
    books: 'Number of different books.',
    amount:
      'What the row adds: pages, minutes for `minutesRead` (each row rounded), a rating for `ratings` and `bestRated`, or days for `daysToFinish`. Null if it only counts.',
    'StatsRow.at': 'When the event was. Null for other rows.',
    BOOK_CONTENT: 'Number of quotations.',
    SUMMARY: 'Number of summaries.',
    THOUGHT: 'Number of thoughts.',
    QUESTION: 'Number of questions.',
    count: 'How many there are.',
    'Backlog.books': 'Number of unread books.',
    oldestCreatedAt: 'When the first of them was registered. Null if there are none.',
    date: 'The day, in your time zone.',
    'StatsRow.date':
      'The date by which the row counts: `finishedAt` or, if paused, `startedAt`; the day of an event or memo in your time zone; the day of `minutesRead`; for `backlog`, when the book was registered.',
    'YearStats.days': 'The days that `daysRead` counts, with pages and minutes.',
    'LongestDay.date': 'The day: of several, the first.',
    'LongestDay.minutes': 'How long books were read: more than a day, if several devices or events add up to that.',
    longestDay: 'The day with the most `minutes` in `days`. Null if there are none.',
    distribution: 'How many finishes have each rating.',
    mean: 'The mean.',
    median: 'The median.',
    'StatsRow.memoId': 'The memo. Null for other rows.',
    month: 'Number of the month. Only full dates count in a month.',
    'MonthStats.books': 'The different books among the finishes of the month.',
    'MonthStats.readings': 'The finishes of the month.',
    'MonthStats.pagesFinished': 'The pages of the finishes of the month.',
    'MonthStats.pagesRead': 'The pages read in the month.',
    'MonthStats.minutesRead': 'The minutes read in the month.',
    'YearStats.months': 'The twelve months.',
    'StatsRow.name': 'The author, tag, language, format or type of memo. Null for other figures.',
    'RatedBook.pages': 'The present `itemPage` of the book. Null if unknown.',
    'ReadingDay.minutes': 'How long books were read on the day, as `minutesRead` counts it.',
    'ReadingDay.pages': 'The pages that the events of the day added.',
    'RatedBook.rating':
      'The rating of the first finish of the year or, in `bestRated`, of the best rated. Null if not rated.',
    'RatingCount.rating': 'The rating.',
    'StatsRow.readingId': 'The reading. Null for other rows.',
    year: 'The year.',
    years:
      'The years with a finished, stopped or paused reading, the end of a finished book, a progress event, a memo or ' +
      'reading time of a device, newest first.',
  },
  parameters: {
    figure: 'The figure whose rows to list.',
    theme: 'Colours: `light` or `dark`.',
    'drawYear.size': '`card` is wide, `page` is tall, with letters that can be read at the width of a phone.',
    year: 'The year.',
  },
  operations: {
    'GET /stats': {
      operationId: 'getStats',
      summary: 'Get the statistics of a year, or the years that have any',
      description:
        'Without `year`, the years that have anything to count. Readings count by their dates, progress events by their time in ' +
        'your time zone (`updateProfile`), memos by `createdAt`, which is a time of the service’s zone: in an hour that occurs ' +
        'twice, the first, and reading time of devices by the day on which it was counted. Partial dates count in their year, but in no month. All is counted at each request, so late entries ' +
        'count as if made in time. A year with more readings, events, memos, reading time or text than the limits gets 409.',
      responses: { 200: json(named('Stats', z.union([YearStats, StatsYears])), 'The statistics') },
      errors: ['MAX_STATS_ROWS'],
    },
    'GET /stats/year.svg': {
      operationId: 'drawYear',
      summary: 'Draw a year',
      description:
        'An SVG picture to share: the year, its finished books as a stack of spines as thick as their pages, months, the best ' +
        'rated and, if any time is known, the hours read. It loads nothing and runs nothing.',
      responses: { 200: { description: 'The picture', content: { 'image/svg+xml': z.string() } } },
      errors: ['MAX_STATS_ROWS'],
    },
    'GET /stats/rows': {
      operationId: 'listStatsRows',
      summary: 'List what a figure counted',
      description:
        'By date. `minutesRead` has one row for each day and book. Lists of books, such as `books` or `authors`, have one finish of each book. A month counts the rows of ' +
        '`readings` whose full `date` is in it. For `memos`, `daysRead`, `longestStreak` and `currentStreak`, an access token ' +
        'also needs `memos:read`.',
      responses: { 200: json(listOf(StatsRow), 'A page of rows') },
      errors: ['MAX_STATS_ROWS'],
    },
  },
}
