import { describe, expect, it } from 'vitest'
import { planCopy } from '../../src/images/clean/avif/ranges'
import { cleanImage } from '../../src/images/clean/clean-image'
import { evaluateConditions, readRange } from '../../src/images/conditions'
import { type AvifOptions, avifFile, box, fullBox } from '../support/avif'
import { big, join, type Part } from '../support/bytes'
import { jpeg, segment } from '../support/pictures'

const isAccepted = (bytes: Uint8Array<ArrayBuffer>) => cleanImage(bytes) !== undefined
const zeros = (length: number) => Array<number>(length).fill(0)

describe('JPEG tables', () => {
  const [DQT, DHT, DAC, DRI] = [0xdb, 0xc4, 0xcc, 0xdd]
  // The numbers of codes of each length, then a value for each code.
  const huffman = (head: number, counts: number[], values: number) => [
    head,
    ...counts,
    ...zeros(16 - counts.length),
    ...zeros(values),
  ]
  const cases: [isValid: boolean, name: string, marker: number, payload: number[]][] = [
    [true, 'an 8-bit quantization table', DQT, [0x00, ...zeros(64)]],
    [true, 'a 16-bit quantization table', DQT, [0x10, ...zeros(128)]],
    [true, 'quantization tables 3 of both precisions', DQT, [0x03, ...zeros(64), 0x13, ...zeros(128)]],
    [false, 'quantization table 4', DQT, [0x04, ...zeros(64)]],
    [false, 'a quantization table of precision 2', DQT, [0x20, ...zeros(128)]],
    [false, 'no quantization table', DQT, []],
    [false, 'an 8-bit quantization table of 63 bytes', DQT, [0x00, ...zeros(63)]],
    [false, 'a 16-bit quantization table of 127 bytes', DQT, [0x10, ...zeros(127)]],
    [false, 'a byte after a quantization table', DQT, [0x00, ...zeros(65)]],
    [true, 'a Huffman table without codes', DHT, huffman(0x00, [], 0)],
    [true, 'Huffman tables 3 of both classes', DHT, [...huffman(0x03, [0, 1], 1), ...huffman(0x13, [2], 2)]],
    [true, 'a Huffman table of 256 codes', DHT, huffman(0x00, [255, 1], 256)],
    [false, 'a Huffman table of 257 codes', DHT, huffman(0x00, [255, 2], 257)],
    [false, 'Huffman table 4', DHT, huffman(0x04, [], 0)],
    [false, 'a Huffman table of class 2', DHT, huffman(0x20, [], 0)],
    [false, 'no Huffman table', DHT, []],
    [false, 'a Huffman table without its last value', DHT, huffman(0x00, [0, 2], 1)],
    [false, 'a byte after a Huffman table', DHT, huffman(0x00, [0, 2], 3)],
    [true, 'one arithmetic conditioning entry', DAC, zeros(2)],
    [true, 'two arithmetic conditioning entries', DAC, zeros(4)],
    [false, 'no arithmetic conditioning entry', DAC, []],
    [false, 'one and a half arithmetic conditioning entries', DAC, zeros(3)],
    [true, 'a restart interval of 2 bytes', DRI, zeros(2)],
    [false, 'a restart interval of 1 byte', DRI, zeros(1)],
    [false, 'a restart interval of 3 bytes', DRI, zeros(3)],
  ]
  it.each(cases)('%s: %s', (isValid, _, marker, payload) => {
    expect(isAccepted(jpeg({}, 'baseline', segment(marker, payload)))).toBe(isValid)
  })

  const scanOf = (components: number, extra = 0) => segment(0xda, [components], zeros(2 * components + 3 + extra))
  const frameOf = (components: number, precision = 8, extra = 0) =>
    segment(0xc0, [precision, 0, 16, 0, 24, components], zeros(3 * components + extra))
  const fileOf = (frame: Part, scan: Part) => join([0xff, 0xd8], frame, scan, [1, 2, 3, 0xff, 0xd9])

  it.each([1, 2, 3, 4])('accepts frames and scans of %i components', (components) => {
    expect(isAccepted(fileOf(frameOf(components), scanOf(components)))).toBe(true)
    expect(isAccepted(fileOf(frameOf(components, 12), scanOf(components)))).toBe(true)
    for (const extra of [-1, 1]) {
      expect(isAccepted(fileOf(frameOf(components, 8, extra), scanOf(components)))).toBe(false)
      expect(isAccepted(fileOf(frameOf(components), scanOf(components, extra)))).toBe(false)
    }
  })

  it.each([0, 5])('refuses frames and scans of %i components', (components) => {
    expect(isAccepted(fileOf(frameOf(components), scanOf(1)))).toBe(false)
    expect(isAccepted(fileOf(frameOf(1), scanOf(components)))).toBe(false)
  })

  it.each([0, 7, 9, 11, 13, 16])('refuses a precision of %i bits', (precision) => {
    expect(isAccepted(fileOf(frameOf(1, precision), scanOf(1)))).toBe(false)
  })
})

describe('AVIF tables', () => {
  const accepts = (options: AvifOptions) => isAccepted(avifFile(options))
  const entry = (id: number, type = 'Exif') => fullBox('infe', 2, 0, big(id, 2), big(0, 2), type)
  const entries = (amount: number, type?: string) => Array.from({ length: amount }, (_, at) => entry(100 + at, type))
  const location = (id: number, ...extents: [start: number, length: number][]) => {
    const list = extents.map(([start, length]) => join(big(start, 4), big(length, 4)))
    return join(big(id, 2), big(0, 2), big(extents.length, 2), ...list)
  }

  it('may list 1,000 items', () => {
    expect(accepts({ entries: entries(999) })).toBe(true)
    expect(accepts({ entries: entries(1_000) })).toBe(false)
  })

  it('need a complete item type', () => {
    expect(accepts({ entries: [entry(100, 'Exif')] })).toBe(true)
    expect(accepts({ entries: [entry(100, 'Exi')] })).toBe(false)
  })

  it('must not repeat a rendered item', () => {
    expect(accepts({ entries: [entry(1, 'av01')] })).toBe(false)
  })

  it('may have 10,000 references', () => {
    const references = (amount: number) => [box('auxl', big(1, 2), big(amount, 2), ...Array(amount).fill(big(1, 2)))]
    expect(accepts({ references: references(10_000) })).toBe(true)
    expect(accepts({ references: references(10_001) })).toBe(false)
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
        return join(big(100 + at, 2), [amount], zeros(amount))
      })
    const options = { entries: entries(40, 'av01') }
    expect(accepts({ ...options, associations: associations(10_000 - 4 - 39 * 255) })).toBe(true)
    expect(accepts({ ...options, associations: associations(10_001 - 4 - 39 * 255) })).toBe(false)
  })

  it('must not associate properties with an item twice', () => {
    expect(accepts({ associations: [join(big(1, 2), [1, 1])] })).toBe(false)
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

describe('conditional requests', () => {
  const image = { httpEtag: '"x"', uploaded: new Date('2026-05-06T07:08:09.500Z'), size: 100 }
  const same = 'Wed, 06 May 2026 07:08:09 GMT'
  const before = 'Wed, 06 May 2026 07:08:08 GMT'

  it.each([
    ['unmodified', { 'If-Modified-Since': same }],
    ['send', { 'If-Modified-Since': before }],
    ['send', { 'If-Unmodified-Since': same }],
    ['failed', { 'If-Unmodified-Since': before }],
    ['send', { 'If-Match': '"x"', 'If-Unmodified-Since': before }],
    ['send', { 'If-None-Match': '"y"', 'If-Modified-Since': same }],
    ['failed', { 'If-Match': '"y"', 'If-None-Match': '"x"' }],
    ['send', {}],
  ])('%s: %o', (outcome, headers) => {
    expect(evaluateConditions(new Headers(headers as Record<string, string>), image)).toBe(outcome)
  })

  it.each([
    ['bytes=5-5', { offset: 5, length: 1 }],
    ['bytes=0-99', { offset: 0, length: 100 }],
    ['bytes=0-100', { offset: 0, length: 100 }],
    ['bytes=99-', { offset: 99, length: 1 }],
    ['bytes=100-', { offset: 100, length: 0 }],
    ['bytes=-1', { offset: 99, length: 1 }],
    ['bytes=-100', { offset: 0, length: 100 }],
    ['bytes=-101', { offset: 0, length: 100 }],
    ['bytes=5-4', undefined],
    ['bytes=-', undefined],
    ['bytes=1-2,4-5', undefined],
  ])('%s is the range %o', (Range, range) => {
    expect(readRange(new Headers({ Range }), image)).toEqual(range)
  })
})
