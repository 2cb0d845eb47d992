import { describe, expect, it } from 'vitest'
import { planCopy } from '../../src/images/clean/avif/ranges'
import { cleanImage } from '../../src/images/clean/clean-image'
import { type AvifOptions, avifFile } from '../support/avif'
import { box, colour, fullBox } from '../support/avif-boxes'
import { big, join, type Part } from '../support/bytes'
import { clean } from '../support/clean'
import { listBoxTypes } from '../support/image-structure'

describe('AVIF tables', () => {
  const accepts = (options: AvifOptions) => cleanImage(avifFile(options)) !== undefined
  const entry = (id: number, type = 'Exif') => fullBox('infe', 2, 0, big(id, 2), big(0, 2), type)
  const entries = (amount: number, type?: string) => Array.from({ length: amount }, (_, at) => entry(100 + at, type))
  const location = (id: number, ...extents: [start: number, length: number][]) => {
    const list = extents.map(([start, length]) => join(big(start, 4), big(length, 4)))
    return join(big(id, 2), big(0, 2), big(extents.length, 2), ...list)
  }

  const iloc = (version: number, widths: number, ...entry: Part[]) =>
    fullBox('iloc', version, 0, big(widths, 2), big(1, version < 2 ? 2 : 4), ...entry)
  type Locate = NonNullable<AvifOptions['writeLocations']>
  // Each entry: item ID, construction method (not in version 0), data reference, base, number of extents, extents of
  // index, offset and length.
  const layouts: [name: string, write: Locate][] = [
    ['in version 0', (at, length) => iloc(0, 0x4400, big(1, 2), big(0, 2), big(1, 2), big(at, 4), big(length, 4))],
    [
      'with reserved bits',
      (at, length) => iloc(0, 0x4404, big(1, 2), big(0, 2), big(1, 2), big(at, 4), big(length, 4)),
    ],
    [
      'with a base',
      (at, length) => iloc(0, 0x4440, big(1, 2), big(0, 2), big(at - 5, 4), big(1, 2), big(5, 4), big(length, 4)),
    ],
    ['with a base only', (at, length) => iloc(0, 0x0440, big(1, 2), big(0, 2), big(at, 4), big(1, 2), big(length, 4))],
    [
      'with an index',
      (at, length) => iloc(1, 0x4404, big(1, 2), big(0, 4), big(1, 2), big(7, 4), big(at, 4), big(length, 4)),
    ],
    [
      'in 8 bytes',
      (at, length) =>
        iloc(1, 0x8888, big(1, 2), big(0, 4), big(9, 8), big(1, 2), big(7, 8), big(at - 9, 8), big(length, 8)),
    ],
    ['in version 2', (at, length) => iloc(2, 0x4400, big(1, 4), big(0, 4), big(1, 2), big(at, 4), big(length, 4))],
    ['in idat', (_, length) => iloc(1, 0x4400, big(1, 2), big(1, 2), big(0, 2), big(1, 2), big(2, 4), big(length, 4))],
    [
      'in two extents',
      (at, length) =>
        iloc(
          0,
          0x4440,
          big(1, 2),
          big(0, 2),
          big(at - 3, 4),
          big(2, 2),
          big(3, 4),
          big(20, 4),
          big(23, 4),
          big(length - 20, 4),
        ),
    ],
  ]
  it.each(layouts)('may locate data %s', (_, writeLocations) => {
    const bytes = clean(avifFile({ writeLocations, tables: [box('idat', 'xx', colour)] }))
    expect(listBoxTypes(bytes)).toEqual(listBoxTypes(clean(avifFile())))
    expect(bytes.subarray(-colour.length)).toEqual(colour)
    expect(clean(bytes)).toEqual(bytes)
  })

  const badLayouts: [name: string, write: Locate][] = [
    ['in version 3', (at, length) => iloc(3, 0x4400, big(1, 4), big(0, 4), big(1, 2), big(at, 4), big(length, 4))],
    [
      'in another item',
      (_, length) => iloc(1, 0x4400, big(1, 2), big(2, 2), big(0, 2), big(1, 2), big(2, 4), big(length, 4)),
    ],
    [
      'beyond idat',
      (_, length) => iloc(1, 0x4400, big(1, 2), big(1, 2), big(0, 2), big(1, 2), big(3, 4), big(length, 4)),
    ],
    ['of no length', (at) => iloc(0, 0x4000, big(1, 2), big(0, 2), big(1, 2), big(at, 4))],
    [
      'in a truncated box',
      (at, length) => iloc(0, 0x4400, big(1, 2), big(0, 2), big(2, 2), big(at, 4), big(length, 4)),
    ],
  ]
  it.each(badLayouts)('must not locate data %s', (_, writeLocations) => {
    expect(accepts({ writeLocations, tables: [box('idat', 'xx', colour)] })).toBe(false)
  })

  it('lose a truncated property', () => {
    const listProperties = (...properties: Part[]) => listBoxTypes(clean(avifFile({ properties })))
    expect(listProperties(box('pasp', big(1, 4), big(1, 4)))).toContain('meta/iprp/ipco/pasp')
    expect(listProperties(box('pasp', big(1, 4), big(1, 3)))).toEqual(listProperties())
  })

  it('may list 1,000 items', () => {
    expect(accepts({ entries: entries(999) })).toBe(true)
    expect(accepts({ entries: entries(1_000) })).toBe(false)
  })

  it('need a complete item type', () => {
    expect(accepts({ entries: [entry(100, 'Exif')] })).toBe(true)
    expect(accepts({ entries: [entry(100, 'Exi')] })).toBe(false)
    expect(accepts({ entries: [fullBox('infe', 1, 0, big(100, 2), big(0, 2), 'Exif')] })).toBe(false)
    expect(accepts({ entries: [fullBox('info', 2, 0, big(100, 2), big(0, 2), 'Exif')] })).toBe(false)
  })

  it('must not repeat a rendered item', () => {
    expect(accepts({ entries: [entry(1, 'av01')] })).toBe(false)
  })

  it('may have 10,000 references', () => {
    const references = (amount: number) => [box('auxl', big(1, 2), big(amount, 2), ...Array(amount).fill(big(1, 2)))]
    expect(accepts({ references: references(10_000) })).toBe(true)
    expect(accepts({ references: references(10_001) })).toBe(false)
  })

  it('lose references that do not affect rendering', () => {
    const bytes = clean(avifFile({ references: [box('cdsc', big(1, 2), big(1, 2), big(1, 2))] }))
    expect(bytes).toEqual(clean(avifFile()))
  })

  it('must locate all extents of an item that is not rendered', () => {
    const [extent, whole] = [join(big(0, 4), big(1, 4)), join(big(77, 2), big(0, 2), big(2, 2))]
    expect(accepts({ locations: [join(whole, extent, extent)] })).toBe(true)
    expect(accepts({ locations: [join(whole, extent)] })).toBe(false)
  })

  it('need a target for each reference', () => {
    expect(accepts({ references: [box('auxl', big(1, 2), big(0, 2))] })).toBe(false)
    expect(accepts({ references: [box('auxl', big(1, 2), big(2, 2), big(1, 2))] })).toBe(false)
  })

  it('may associate 10,000 properties', () => {
    // The image itself has 4.
    const associations = (last: number) =>
      Array.from({ length: 40 }, (_, at) => {
        const amount = at === 39 ? last : 255
        return join(big(100 + at, 2), [amount], new Uint8Array(amount))
      })
    const options = { entries: entries(40, 'av01') }
    expect(accepts({ ...options, associations: associations(10_000 - 4 - 39 * 255) })).toBe(true)
    expect(accepts({ ...options, associations: associations(10_001 - 4 - 39 * 255) })).toBe(false)
  })

  it('must not associate properties with an item twice', () => {
    expect(accepts({ associations: [join(big(1, 2), [1, 1])] })).toBe(false)
    const one = join(big(100, 2), [1, 1])
    expect(accepts({ entries: entries(1, 'av01'), associations: [one] })).toBe(true)
    expect(accepts({ entries: entries(1, 'av01'), associations: [one, one] })).toBe(false)
  })

  it('may have 10,000 extents', () => {
    const extents = (amount: number) => Array<[number, number]>(amount).fill([0, 1])
    const options = { entries: entries(1, 'av01') }
    expect(accepts({ ...options, locations: [location(100, ...extents(9_999))] })).toBe(true)
    expect(accepts({ ...options, locations: [location(100, ...extents(10_000))] })).toBe(false)
  })

  it('may locate an item without extents, but not an empty extent', () => {
    const options = { entries: entries(1, 'av01') }
    expect(accepts({ ...options, locations: [location(100)] })).toBe(true)
    expect(accepts({ ...options, locations: [location(100, [0, 1])] })).toBe(true)
    expect(accepts({ ...options, locations: [location(100, [0, 0])] })).toBe(false)
  })

  it('may locate data up to the end of the file', () => {
    const options = { entries: entries(1, 'av01') }
    const { length } = avifFile({ ...options, locations: [location(100, [0, 1])] })
    expect(accepts({ ...options, locations: [location(100, [0, length])] })).toBe(true)
    expect(accepts({ ...options, locations: [location(100, [0, length + 1])] })).toBe(false)
  })

  it('must not locate an item twice', () => {
    expect(accepts({ locations: [location(1, [0, 1])] })).toBe(false)
  })
})

describe('AVIF data', () => {
  const [first, second] = [
    { start: 10, end: 20 },
    { start: 30, end: 40 },
  ]

  it.each([
    ['ranges out of order', [second, first], [first, second], [10, 0]],
    [
      'adjacent ranges',
      [
        { start: 10, end: 15 },
        { start: 15, end: 20 },
      ],
      [first],
      [0, 5],
    ],
    ['equal ranges', [first, first], [first], [0, 0]],
    [
      'overlapping ranges',
      [
        { start: 10, end: 16 },
        { start: 14, end: 20 },
      ],
      [first],
      [0, 4],
    ],
    ['a range within another', [first, { start: 12, end: 14 }, second], [first, second], [0, 2, 10]],
  ])('is copied once, in the order of the file: %s', (_, ranges, runs, targets) => {
    const plan = planCopy(ranges, [{ start: 10, end: 40 }])
    const copied = plan?.runs.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, at) => start + at))
    const expected = runs.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, at) => start + at))
    expect(copied).toEqual(expected)
    expect(plan?.length).toBe(expected.length)
    expect(ranges.map(({ start }) => plan?.relocate(start))).toEqual(targets)
  })

  it.each([
    ['an empty range', { start: 15, end: 15 }],
    ['a range that starts before its container', { start: 9, end: 20 }],
    ['a range that ends after its container', { start: 10, end: 21 }],
    ['a range between containers', { start: 22, end: 28 }],
    ['a range across containers', { start: 15, end: 35 }],
    ['a range after all containers', { start: 40, end: 41 }],
  ])('is refused: %s', (_, range) => {
    expect(planCopy([range], [first, second])).toBeUndefined()
    expect(planCopy([range], [])).toBeUndefined()
  })

  it('may be in several containers', () => {
    expect(planCopy([first, second], [first, second])?.length).toBe(20)
  })
})
