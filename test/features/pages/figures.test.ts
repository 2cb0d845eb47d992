// The figures in the docs are those of the last runs of `npm run bench -- --json test/fixtures/figures/bench.json` and
// `npm run attack -- --seed 2026 --json test/fixtures/figures/attacks.json`.
import { describe, expect, it } from 'vitest'
import cost from '../../../docs/cost.md?raw'
import trust from '../../../docs/trust.md?raw'
import readme from '../../../README.md?raw'
import attacks from '../../fixtures/figures/attacks.json'
import bench from '../../fixtures/figures/bench.json'

const suites: Record<string, { figures: (string | number)[][] }> = attacks.results
const report: string[] = bench.report

const numbersOf = (text: string) =>
  [...text.replaceAll('−', '-').matchAll(/(?<![\d.])-?\d[\d,]*(?:\.\d+)?/g)].map(([number]) =>
    Number(number.replaceAll(',', '')),
  )

/** The cells of the first table below a heading, without its own heading. */
const tableBelow = (page: string, heading: string) => {
  const [, section = ''] = page.split(`\n## ${heading}\n`)
  const [, table = ''] = section.match(/((?:^\|.*\n)+)/m) ?? []
  const rows = table.trim().split('\n').slice(2)
  return rows.map((row) =>
    row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  )
}

/** What the benchmark printed of something, for example an endpoint. */
const printedOf = (name: string) => report.filter((line) => line.startsWith(`${name}  `)).join('\n')
const expectPrinted = (printed: string, shown: string) =>
  expect(numbersOf(printed)).toEqual(expect.arrayContaining(numbersOf(shown)))

describe('the benchmark printed', () => {
  it.each(tableBelow(cost, 'Endpoints'))('the figures of %s', (name, ...cells) => {
    expectPrinted(printedOf(name), cells.join(' '))
  })

  it.each(tableBelow(cost, 'Largest batches'))('the largest batch: %s', (name, rows) => {
    expectPrinted(printedOf(name), rows ?? '')
  })

  it.each(tableBelow(cost, 'Compared with Express and Fastify'))('the speed of %s on Node', (name, ...cells) => {
    expectPrinted(printedOf(name), cells.join(' '))
  })

  it.each(cost.match(/^- .*(?:\n {2}.*)*/gm) ?? [])('%s', (item) => {
    expectPrinted(report.join('\n'), item)
  })

  it.each(tableBelow(cost, 'Monthly cost'))('the monthly cost of %s', (name, ...cells) => {
    expectPrinted(printedOf(name), cells.join(' '))
  })

  it('the monthly cost in the README', () => {
    const [total] = numbersOf(printedOf('total, with the plan'))
    expect(readme).toContain(`$${total} a month for 10,000 members`)
  })

  it('the rows and the size in the README', () => {
    const most = Math.max(...bench.rows.flatMap(({ read }) => read))
    expect(readme).toContain(`at most ${most.toLocaleString('en')} |`)
    expect(readme).toContain(`${Math.round(bench.worker.gzipped / 1000)} KB gzipped`)
  })
})

describe('the attacks printed', () => {
  const rows = tableBelow(trust, 'Results')
  const shown = rows.map(([suite, ...cells], at) => ({
    // A row without a suite belongs to the one above it.
    suite: (suite || rows.slice(0, at).findLast(([name]) => name)?.[0] || '').replaceAll('`', ''),
    numbers: numbersOf(cells.join(' ')),
    text: cells.join(': '),
  }))
  const [, older = ''] = trust.match(/\*\*Date:\*\* (.*(?:\n {2}.*)*)/) ?? []

  it.each(shown)('$suite: $text', ({ suite, numbers }) => {
    const figures = suites[suite]?.figures
    // Not measured since, which the page says.
    if (!figures) return expect(older).toContain(`\`${suite}\``)
    expect(numbersOf(figures.flat().join(' '))).toEqual(expect.arrayContaining(numbers))
  })

  it('the figures in the README', () => {
    const shownIn = numbersOf(readme.match(/\| Fault-tolerant \|(.*)\|/)?.[1] ?? '')
    const printed = [suites.input, suites.crashes].flatMap((suite) => numbersOf(suite?.figures.flat().join(' ') ?? ''))
    expect(printed).toEqual(expect.arrayContaining(shownIn))
  })
})
