/** A set of fields of books. */
type FieldSet =
  /** `LibraryBook`. */
  | 'library'
  /** `ListedBook` and `BookDetail`. */
  | 'detail'
  /** `Edition`. */
  | 'edition'
  /** A text, whose bytes count towards MAX_MEMBER_TEXT_BYTES. */
  | 'text'
  /** Search finds it: its folded text is in a column of its own, named like it with `Folded`. */
  | 'search'
  /** The feed: `SyncedBook`, or its `edition` if `detail` lacks the field. */
  | 'feed'
  /** A change of the field is in the log of changes. */
  | 'log'
  /** `ExportedBook`. An import of the file stores it again. */
  | 'export'
  /** Imports change it in books of the library. */
  | 'import'
  /** Imports and merges fill it if it is empty. */
  | 'fill'
  /** It is part of the current reading. */
  | 'reading'

/**
 * The fields of a book, each with its sets, in the order of responses. All lists of columns are derived from
 * this table: those of queries, of the feed, of exports, of imports and their undo, and of the triggers
 * (scripts/triggers).
 */
// biome-ignore format: columns are easier to compare
const FIELDS = {
  title:         ['library', 'detail', 'edition', 'text', 'search', 'feed', 'log', 'export', 'import'],
  subtitle:      [                     'edition', 'text', 'search', 'feed', 'log', 'export', 'import', 'fill'],
  cover:         ['library', 'detail', 'edition', 'text',           'feed', 'log', 'export', 'import', 'fill'],
  author:        ['library', 'detail',            'text', 'search', 'feed', 'log', 'export', 'import', 'fill'],
  publisher:     [           'detail',            'text', 'search', 'feed', 'log', 'export', 'import', 'fill'],
  createdAt:     ['library', 'detail',                              'feed', 'log', 'export'],
  star:          ['library', 'detail',                              'feed', 'log', 'export', 'import', 'reading'],
  // Each change of it adds or updates a progress event, which is logged.
  currentPage:   ['library', 'detail',                              'feed',        'export', 'import'],
  itemPage:      ['library', 'detail',                              'feed', 'log', 'export', 'import', 'fill'],
  bookStatus:    ['library', 'detail',                              'feed', 'log', 'export', 'import', 'reading'],
  readStartDate: [           'detail',                              'feed', 'log', 'export', 'import', 'reading'],
  readEndDate:   [           'detail',                              'feed', 'log', 'export', 'import', 'reading'],
  memoCount:     ['library', 'detail'],
  isbn:          [                     'edition',                   'feed', 'log', 'export', 'import', 'fill'],
  language:      [                     'edition', 'text',           'feed', 'log', 'export', 'import', 'fill'],
  format:        [                     'edition',                   'feed', 'log', 'export', 'import', 'fill'],
  publishedYear: [                     'edition',                   'feed', 'log', 'export', 'import', 'fill'],
  series:        [                     'edition', 'text',           'feed', 'log', 'export', 'import', 'fill'],
  seriesNumber:  [                     'edition',                   'feed', 'log', 'export', 'import', 'fill'],
  seconds:       [                     'edition',                   'feed', 'log', 'export', 'import', 'fill'],
  sourceIds:     [                     'edition', 'text',           'feed', 'log', 'export', 'import'],
  // Of the current reading.
  note:          [                                'text'],
} as const satisfies Record<string, readonly FieldSet[]>

type Fields = typeof FIELDS
type FieldsOf<Name extends FieldSet> = {
  [Field in keyof Fields]: Name extends Fields[Field][number] ? Field : never
}[keyof Fields]

/** The fields of a set, without those that are also in another one. */
export const fieldsOf = <Name extends FieldSet, Other extends FieldSet = never>(set: Name, other?: Other) =>
  Object.entries<readonly FieldSet[]>(FIELDS)
    .filter(([, sets]) => sets.includes(set) && !(other && sets.includes(other)))
    .map(([name]) => name) as Exclude<FieldsOf<Name>, FieldsOf<Other>>[]
