// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are code
// Races, each put into the real code: npm run mutate -- --list test/attacks/data/interleaved-mutations.ts
// With --seed 2026, 400 histories find all.
import { type Mutation, one } from './sync-mutations.ts'

export const command = 'attack -- interleaved'
export const environment = { HISTORIES: '1000' }

const BOOKS = 'src/library/books/store.ts'
const MERGE = 'src/library/books/merge.ts'
const MEMOS = 'src/library/memos/store.ts'
const PROGRESS = 'src/library/progress/store.ts'
const READINGS = 'src/library/readings/store.ts'
const CHANGE = 'src/library/readings/change.ts'
const TAGS = 'src/library/tags/store.ts'

export const mutations: Mutation[] = [
  one(
    'a book keeps what is not sent',
    BOOKS,
    '  const changes = withDerived(patch)',
    `  const read = await queryOne(db, caller, sqlStatement\`
    select publisher, itemPage, star, currentPage from books where \${isOwnBook}\`({ bookId }))
  const changes = withDerived({ ...(read as object), ...patch })`,
  ),
  {
    rule: 'a book changes with its readings',
    edits: [
      [BOOKS, 'const { stored, updated } =', 'const { stored } ='],
      [
        BOOKS,
        `    readings: readings.map((change) => idempotent(sqlStatement\`\${change}\`(values))),
    updated`,
        `  })
  await runAsCaller(db, caller, { readings: readings.map((change) => sqlStatement\`\${change}\`(values)) })
  const { updated } = await runAsCaller(db, caller, {
    updated`,
      ],
    ],
  },
  {
    rule: 'a book is deleted once',
    edits: [
      [
        BOOKS,
        '  const { removed, left } = await runAsCaller(',
        '  const found = await queryOne(db, caller, selectLeft(values))\n  const { left } = await runAsCaller(',
      ],
      [BOOKS, '  return removed\n', '  return found\n'],
    ],
  },
  {
    rule: 'a merge deletes the other book when it has moved everything',
    edits: [
      [MERGE, 'const { guard, deleted, merged } =', 'const { guard } ='],
      [
        MERGE,
        '    deleted: firstRow(deleteSource(values)),\n    evicted',
        `  })
  const { deleted, merged } = await runAsCaller(db, caller, {
    deleted: firstRow(deleteSource(values)),
    evicted`,
      ],
    ],
  },
  {
    rule: 'a second open reading is refused where the first one begins',
    edits: [
      [
        READINGS,
        "(bookStatus = 'YET' and",
        "(${sql.raw(condition === isUnused ? `bookStatus = 'YET'` : `bookStatus <> 'DONE'`)} and",
      ],
      [
        READINGS,
        '  const mark =',
        `  const open = await runAsCaller(db, caller, { usage: firstRow(selectUsage({ bookId })) })
  if (open.usage?.isOpen && !isEnded && !key) throw new ApiError('READING_OPEN')
  const mark =`,
      ],
    ],
  },
  {
    rule: 'a reading changes with its book',
    edits: [
      [CHANGE, 'const { stored, updated } =', 'const { stored } ='],
      [
        CHANGE,
        `    updated: isEmpty ? [] : toUpdates(patch).map((update) => idempotent(update(values))),
  })`,
        `  })
  const [keep, promote] = toUpdates(patch).slice(2).map((update) => update(values))
  const { updated } = await runAsCaller(db, caller, {
    updated: isEmpty ? [] : toUpdates(patch).slice(0, 2).map((update) => update(values)),
  })
  if (!isEmpty) await runAsCaller(db, caller, { settled: [keep, promote] as never })`,
      ],
    ],
  },
  {
    rule: 'a version is compared where the memo is written',
    edits: [
      [MEMOS, 'const versions = expected ? JSON.stringify([...expected, version]) : null', 'const versions = null'],
      [
        MEMOS,
        '  const version = newVersion()\n',
        `  const version = newVersion()
  const first = await runAsCaller(db, caller, { memo: firstRow(selectMemo({ memoId })) })
  if (first.memo && isConflict(first.memo)) throw memoChanged(first.member, first.memo)
`,
      ],
      [MEMOS, 'if (stored && isConflict(stored)) throw', 'if (stored && !updated && isConflict(stored)) throw'],
    ],
  },
  {
    rule: 'the page of a book is that of its latest event',
    edits: [
      [PROGRESS, 'const { guard, event, reading } =', 'const { guard, event } ='],
      [
        PROGRESS,
        '    updated: idempotent(updateCurrentPage({ bookId })),',
        `  })
  const { reading } = await runAsCaller(db, caller, {
    updated: updateCurrentPage({ bookId }),`,
      ],
    ],
  },
  {
    rule: 'a page begins a book where it is added',
    edits: [
      [PROGRESS, 'const { guard, event, reading } =', 'const { guard, event } ='],
      [
        PROGRESS,
        '    changed: changes.map(',
        `  })
  const { reading } = await runAsCaller(db, caller, {
    changed: changes.map(`,
      ],
    ],
  },
  {
    rule: 'the tags of a book are replaced as a whole',
    edits: [
      [TAGS, 'const { guard, rows } =', 'const { guard } ='],
      [
        TAGS,
        '    added: idempotent(ofBook.add(values)),',
        `  })
  const { rows } = await runAsCaller(db, caller, {
    added: idempotent(ofBook.add(values)),`,
      ],
    ],
  },
]
