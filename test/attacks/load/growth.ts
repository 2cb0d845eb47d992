// Reads files of all import formats, whose texts take the most work for their size, and matches their books with a library of
// twice as many: at one, two and four times the size. The CPU time may grow with an exponent of at most 1.2.
import type { FormatName } from '../../../src/transfer/entries/entry'
import { MAX_EXPONENT, measureExponent } from '../../support/runtime/exponent'
import {
  HOSTILE_FILES,
  HOSTILE_SIZES,
  HOSTILE_TEXTS,
  readAndMatch,
  toHostileImport,
} from '../../support/transfer/hostile-imports'
import type { Attack } from '../harness/attack'

export const growth: Attack = async ({ quick, seed, progress }) => {
  const formats = Object.keys(HOSTILE_FILES) as FormatName[]
  const cases = formats.flatMap((format) =>
    Object.entries(HOSTILE_TEXTS).flatMap(([text, part]) =>
      Object.entries(HOSTILE_SIZES).map(([size, toSize]) => ({ format, text, part, size, toSize })),
    ),
  )
  // Each format, text and size is in some of them.
  const chosen = quick ? cases.filter((_, at) => (at + seed) % 23 === 0) : cases
  const failures: string[] = []
  let [highest, slowest] = [0, 0]
  for (const [at, { format, text, part, size, toSize }] of chosen.entries()) {
    const make = (factor: number) => toHostileImport(format, part, toSize(factor))
    const { exponent, milliseconds } = await measureExponent(make, readAndMatch)
    highest = Math.max(highest, exponent)
    slowest = Math.max(slowest, milliseconds)
    if (exponent > MAX_EXPONENT) failures.push(`${format}, ${text}, ${size}: the exponent is ${exponent.toFixed(2)}`)
    if (at % 50 === 49) progress(`${at + 1} of ${chosen.length} cases, ${failures.length} failures`)
  }
  return {
    figures: [
      ['formats, texts and sizes of imports', chosen.length, `exponent at most ${highest.toFixed(2)}`],
      ['the slowest one', 1, `${Math.ceil(slowest)} ms`],
    ],
    failures,
  }
}
