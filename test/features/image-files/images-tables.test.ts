import { describe, expect, it } from 'vitest'
import { planCopy } from '../../../src/library/images/clean/avif/ranges'
import { big, join, type Part, repeat, u16, u32, zeros } from '../../support/bytes'
import { type AvifOptions, avifFile, box, fullBox } from '../../support/images/avif'
import { alpha, colour, tile } from '../../support/images/encoded'
import { clean, count, listBoxTypes, tryClean } from '../../support/images/image-structure'
import { avif, EVERYTHING, jpeg, segment } from '../../support/images/pictures'

const isAccepted = (bytes: Uint8Array<ArrayBuffer>) => typeof tryClean(bytes) === 'object'

describe('JPEG tables', () => {
  const dqt = (...tables: [head: number, size: number][]) =>
    segment(0xdb, ...tables.map(([head, size]) => [head, ...zeros(size)]))
  // The numbers of codes of each length, then a value for each code.
  const dht = (...tables: [head: number, counts: number[], values: number][]) =>
    segment(0xc4, ...tables.map(([head, counts, values]) => [head, ...counts, ...zeros(16 - counts.length + values)]))
  const dac = (size: number) => segment(0xcc, zeros(size))
  const dri = (size: number) => segment(0xdd, zeros(size))
  const isValid = (extra: Part) => isAccepted(jpeg({ extra }))

  it.each<[title: string, accepted: Part[], refused: Part[]]>([
    ['need 64 values of 8 bits for quantization', [dqt([0x00, 64])], [dqt(), dqt([0x00, 63]), dqt([0x00, 65])]],
    ['need 64 values of 16 bits for quantization', [dqt([0x10, 128])], [dqt([0x10, 127])]],
    ['may have quantization numbers 0 to 3', [dqt([0x03, 64])], [dqt([0x04, 64])]],
    ['may have quantization precisions 0 and 1', [dqt([0x03, 64], [0x13, 128])], [dqt([0x20, 128])]],
    ['need a Huffman table, with or without codes', [dht([0x00, [], 0])], [dht()]],
    ['may have Huffman numbers 0 to 3', [dht([0x03, [], 0])], [dht([0x04, [], 0])]],
    ['may have Huffman classes 0 and 1', [dht([0x03, [0, 1], 1], [0x13, [2], 2])], [dht([0x20, [], 0])]],
    ['may have up to 256 Huffman codes', [dht([0x00, [255, 1], 256])], [dht([0x00, [255, 2], 257])]],
    ['need one value per Huffman code', [dht([0x00, [0, 2], 2])], [dht([0x00, [0, 2], 1]), dht([0x00, [0, 2], 3])]],
    ['need arithmetic conditioning entries of 2 bytes', [dac(2), dac(4)], [dac(0), dac(3)]],
    ['need a restart interval of 2 bytes', [dri(2)], [dri(1), dri(3)]],
  ])('%s', (_, accepted, refused) => {
    expect(accepted.map(isValid)).not.toContain(false)
    expect(refused.map(isValid)).not.toContain(true)
  })

  const scanOf = (components: number, extra = 0) => segment(0xda, [components], zeros(2 * components + 3 + extra))
  const frameOf = (components: number, precision = 8, extra = 0) =>
    segment(0xc0, [precision, 0, 16, 0, 24, components], zeros(3 * components + extra))
  const accepts = (frame: Part, scan: Part) => isAccepted(join([0xff, 0xd8], frame, scan, [1, 2, 3, 0xff, 0xd9]))

  it.each([1, 2, 3, 4])('accepts frames and scans of %i components', (components) => {
    expect(accepts(frameOf(components), scanOf(components))).toBe(true)
    expect(accepts(frameOf(components, 12), scanOf(components))).toBe(true)
    for (const extra of [-1, 1]) {
      expect(accepts(frameOf(components, 8, extra), scanOf(components))).toBe(false)
      expect(accepts(frameOf(components), scanOf(components, extra))).toBe(false)
    }
  })

  it.each([0, 5])('refuses frames and scans of %i components', (components) => {
    expect(accepts(frameOf(components), scanOf(1))).toBe(false)
    expect(accepts(frameOf(1), scanOf(components))).toBe(false)
  })

  it.each([0, 7, 9, 11, 13, 16])('refuses a precision of %i bits', (precision) => {
    expect(accepts(frameOf(1, precision), scanOf(1))).toBe(false)
  })
})

describe('AVIF tables', () => {
  const accepts = (options: AvifOptions) => isAccepted(avifFile(options))
  const iloc = (version: number, widths: number, ...entry: Part[]) =>
    fullBox('iloc', version, 0, u16(widths), big(1, version < 2 ? 2 : 4), ...entry)
  const locatedBy = (writeLocations: Locate) => ({ writeLocations, tables: [box('idat', 'xx', colour)] })

  // An entry: item ID, construction method, data reference, base, extent count; index, offset and length of each extent.
  type Locate = NonNullable<AvifOptions['writeLocations']>
  it.each<[where: string, write: Locate]>([
    ['in version 0', (at, length) => iloc(0, 0x4400, u16(1, 0, 1), u32(at, length))],
    ['with reserved bits', (at, length) => iloc(0, 0x4404, u16(1, 0, 1), u32(at, length))],
    ['with a base', (at, length) => iloc(0, 0x4440, u16(1, 0), u32(at - 5), u16(1), u32(5, length))],
    ['with a base only', (at, length) => iloc(0, 0x0440, u16(1, 0), u32(at), u16(1), u32(length))],
    ['with an index', (at, length) => iloc(1, 0x4404, u16(1, 0, 0, 1), u32(7, at, length))],
    ['in 8 bytes', (at, length) => iloc(1, 0x8888, u16(1, 0, 0), u32(0, 9), u16(1), u32(0, 7, 0, at - 9, 0, length))],
    ['in version 2', (at, length) => iloc(2, 0x4400, u32(1, 0), u16(1), u32(at, length))],
    ['in idat', (_, length) => iloc(1, 0x4400, u16(1, 1, 0, 1), u32(2, length))],
    ['in two extents', (at, length) => iloc(0, 0x4440, u16(1, 0), u32(at - 3), u16(2), u32(3, 20, 23, length - 20))],
  ])('may locate data %s', (_, writeLocations) => {
    const bytes = clean(avifFile(locatedBy(writeLocations)))
    expect(listBoxTypes(bytes)).toEqual(listBoxTypes(clean(avifFile())))
    expect(bytes.subarray(-colour.length)).toEqual(colour)
    expect(clean(bytes)).toEqual(bytes)
  })

  it.each<[where: string, write: Locate]>([
    ['in version 3', (at, length) => iloc(3, 0x4400, u32(1, 0), u16(1), u32(at, length))],
    ['in another item', (_, length) => iloc(1, 0x4400, u16(1, 2, 0, 1), u32(2, length))],
    ['beyond idat', (_, length) => iloc(1, 0x4400, u16(1, 1, 0, 1), u32(3, length))],
    ['of no length', (at) => iloc(0, 0x4000, u16(1, 0, 1), u32(at))],
    ['in a truncated box', (at, length) => iloc(0, 0x4400, u16(1, 0, 2), u32(at, length))],
  ])('must not locate data %s', (_, writeLocations) => {
    expect(accepts(locatedBy(writeLocations))).toBe(false)
  })

  it('lose a truncated property', () => {
    const listProperties = (...properties: Part[]) => listBoxTypes(clean(avifFile({ properties })))
    expect(listProperties(box('pasp', u32(1, 1)))).toContain('meta/iprp/ipco/pasp')
    expect(listProperties(box('pasp', u32(1), big(1, 3)))).toEqual(listProperties())
  })

  it('lose references that do not affect rendering', () => {
    expect(clean(avifFile({ references: [box('cdsc', u16(1, 1, 1))] }))).toEqual(clean(avifFile()))
  })

  const entry = (id: number, type: string, version = 2, name = 'infe') => fullBox(name, version, 0, u16(id, 0), type)
  const entries = (amount: number, type = 'Exif') => Array.from({ length: amount }, (_, at) => entry(100 + at, type))
  const references = (amount: number) => [box('auxl', u16(1, amount), repeat(amount, u16(1)))]
  const locations = (id: number, amount: number, ...extents: number[]) => [join(u16(id, 0, amount), u32(...extents))]
  // Another image, of item ID 100.
  const second = (options: AvifOptions) => ({ entries: entries(1, 'av01'), ...options })
  const located = (amount: number, ...extents: number[]) => second({ locations: locations(100, amount, ...extents) })
  const withExtents = (amount: number) => located(amount, ...Array(amount).fill([0, 1]).flat())
  const { length } = avifFile(located(1, 0, 1))
  const associate = (id: number, amount: number) => join(u16(id), [amount], zeros(amount))
  // Properties of 80 images, since an image has at most 255.
  const associated = (total: number) => ({
    entries: entries(80, 'av01'),
    associations: Array.from({ length: 80 }, (_, at) => associate(100 + at, Math.floor((total + at) / 80))),
  })
  const association = join(u16(100), [1, 1])

  // An image has 22 parts. An item has an entry, and 1 more in each table that lists it; the box of references is 1, too.
  it.each<[title: string, make: (amount: number) => AvifOptions, others: number]>([
    ['items', (amount) => ({ entries: entries(amount) }), 22],
    ['references', (amount) => ({ references: references(amount) }), 22 + 2],
    ['associated properties', associated, 22 + 80 + 80],
    ['extents', withExtents, 22 + 1 + 1],
  ])('may have 20,000 parts in all, most of them %s', { tags: ['slow'] }, (_, make, others) => {
    expect(isAccepted(avifFile(make(20_000 - others)))).toBe(true)
    expect(tryClean(avifFile(make(20_001 - others)))).toBe('IMAGE_TOO_COMPLEX')
  })

  it.each<[title: string, accepted: AvifOptions[], refused: AvifOptions[]]>([
    ['need a complete item type', [{ entries: [entry(100, 'Exif')] }], [{ entries: [entry(100, 'Exi')] }]],
    ['need item entries of version 2', [], [{ entries: [entry(100, 'Exif', 1)] }]],
    ['need item entries of type infe', [], [{ entries: [entry(100, 'Exif', 2, 'info')] }]],
    ['must not repeat a rendered item', [], [{ entries: [entry(1, 'av01')] }]],
    ['need a target for a reference', [], [{ references: references(0) }]],
    ['need a target for each reference', [], [{ references: [box('auxl', u16(1, 2, 1))] }]],
    [
      'must locate all extents of an item that is not rendered',
      [{ locations: locations(77, 2, 0, 1, 0, 1) }],
      [{ locations: locations(77, 2, 0, 1) }],
    ],
    ['must not associate properties with the first item twice', [], [{ associations: [join(u16(1), [1, 1])] }]],
    [
      'must not associate properties with another item twice',
      [second({ associations: [association] })],
      [second({ associations: [association, association] })],
    ],
    ['may locate an item without extents, but not an empty extent', [located(0), located(1, 0, 1)], [located(1, 0, 0)]],
    ['may locate data up to the end of the file', [located(1, 0, length)], [located(1, 0, length + 1)]],
    ['must not locate an item twice', [], [{ locations: locations(1, 1, 0, 1) }]],
  ])('%s', (_, accepted, refused) => {
    expect(accepted.map(accepts)).not.toContain(false)
    expect(refused.map(accepts)).not.toContain(true)
  })
})

describe('a cleaned AVIF', () => {
  it('has its tables and data, and no items but images', () => {
    const bytes = clean(avif(EVERYTHING))
    const meta = ['hdlr', 'pitm', 'iloc', 'iinf', 'iinf/infe:av01', 'iprp', 'iprp/ipco']
    const properties = ['ispe', 'av1C', 'pixi', 'colr', 'colr'].map((type) => `iprp/ipco/${type}`)
    const tables = [...meta, ...properties, 'iprp/ipma'].map((path) => `meta/${path}`)
    expect(listBoxTypes(bytes)).toEqual(['ftyp', 'meta', ...tables, 'mdat'])
    expect(bytes.subarray(-colour.length)).toEqual(colour)
  })

  it('keeps known brands only', () => {
    const brands = ['mif1', 'avif', 'miaf', 'heic', '<scr']
    expect(clean(avif({}, { brands })).subarray(0, 28)).toEqual(join(u32(28), 'ftypavif', u32(0), 'avifmif1miaf'))
  })

  const DEPTH = 'urn:mpeg:hevc:2015:auxid:2\0'
  it.each<[title: string, options: AvifOptions, items: string[], data: Part[]]>([
    ['keeps its alpha plane', { hasAlpha: true }, ['av01', 'av01'], [colour, alpha]],
    ['drops a depth map', { hasAlpha: true, auxiliary: DEPTH }, ['av01'], [colour]],
    ['drops its thumbnail', { hasThumbnail: true }, ['av01'], [colour]],
    ['keeps the cells of a grid', { isGrid: true }, ['grid', 'av01', 'av01'], [tile, tile]],
    ['keeps its rotation', { rotation: 3 }, ['av01'], ['irot', [3]]],
  ])('%s', (_, options, items, data) => {
    const bytes = clean(avif(EVERYTHING, options))
    const paths = listBoxTypes(bytes)
    expect(paths.filter((path) => path.includes('infe:'))).toEqual(items.map((type) => `meta/iinf/infe:${type}`))
    expect(paths.includes('meta/iref/auxl')).toBe(items.join() === 'av01,av01')
    expect(count(bytes, ...data)).toBe(1)
  })

  it('hides the cells of a grid', () => {
    const bytes = clean(avif(EVERYTHING, { isGrid: true }))
    expect(count(bytes, 'infe', [2, 0, 0, 1])).toBe(2)
    expect(count(bytes, 'infe', [2, 0, 0, 0])).toBe(1)
  })
})

describe('AVIF data', () => {
  const toRanges = (text: string) =>
    text.split(' ').map((range) => {
      const [start = 0, end = 0] = range.split('-').map(Number)
      return { start, end }
    })
  const listOffsets = (ranges: { start: number; end: number }[] = []) =>
    ranges.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, at) => start + at))
  const containers = toRanges('10-20 30-40')

  it.each<[name: string, ranges: string, runs: string, targets: number[]]>([
    ['ranges out of order', '30-40 10-20', '10-20 30-40', [10, 0]],
    ['adjacent ranges', '10-15 15-20', '10-20', [0, 5]],
    ['equal ranges', '10-20 10-20', '10-20', [0, 0]],
    ['overlapping ranges', '10-16 14-20', '10-20', [0, 4]],
    ['a range within another', '10-20 12-14 30-40', '10-20 30-40', [0, 2, 10]],
  ])('is copied once, in the order of the file: %s', (_, text, runs, targets) => {
    const ranges = toRanges(text)
    const plan = planCopy(ranges, toRanges('10-40'))
    const expected = listOffsets(toRanges(runs))
    expect(listOffsets(plan?.runs)).toEqual(expected)
    expect(plan?.length).toBe(expected.length)
    expect(ranges.map(({ start }) => plan?.relocate(start))).toEqual(targets)
  })

  it.each([
    ['an empty range', '15-15'],
    ['a range that starts before its container', '9-20'],
    ['a range that ends after its container', '10-21'],
    ['a range between containers', '22-28'],
    ['a range across containers', '15-35'],
    ['a range after all containers', '40-41'],
  ])('is refused: %s', (_, range) => {
    expect(planCopy(toRanges(range), containers)).toBeUndefined()
    expect(planCopy(toRanges(range), [])).toBeUndefined()
  })

  it('may be in several containers', () => {
    expect(planCopy(containers, containers)?.length).toBe(20)
  })
})
