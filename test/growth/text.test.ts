// @module-tag slow
import { it } from 'vitest'
import { withoutImage } from '../../scripts/members/take-down.ts'
import type { BookRow } from '../../src/transfer/export/book-lists'
import { toTable } from '../../src/transfer/export/csv-file'
import { toSortKey } from '../../src/values/text/fold'
import { expectLinear } from '../support/runtime/growth'

it.each([
  '\u0301\u0316',
  `a${'\u0301'.repeat(30)}`,
  `ב${'\u05b0'.repeat(29)}`,
  'e\u0301',
  'İ',
  'ᾳ̈',
  '가',
  '’',
  '«!',
  'æ ',
])('folds repeated %j in linear time', (part) =>
  expectLinear(32_000, (size) => part.repeat(size / part.length), toSortKey),
)

it('exports long runs of separators for a spreadsheet in linear time', async () => {
  const make = (size: number) =>
    ({ tags: '[]', bookStatus: 'YET', createdAt: '', note: `a${';\n"\t '.repeat(size / 5)}` }) as BookRow
  const pagesOf = async function* (row: BookRow) {
    yield [row]
  }
  await expectLinear(40_000, make, (row) => Array.fromAsync(toTable(pagesOf(row), true)))
})

const KEY = `images/12/${'a'.repeat(22)}.png`
it.each(['![', '<img ', '![](', '![](a', 'a', `${KEY}<img `, `![](${KEY} `, KEY])(
  'removes an image from a memo of repeated %j in linear time',
  (part) =>
    expectLinear(
      64_000,
      (size) => `${KEY} ${part.repeat(size / part.length)}`,
      (memo) => withoutImage(memo, KEY),
    ),
)
