import { big, join, type Part, toText, u16, u32, zeros } from '../bytes'
import { alpha, colour, tile } from './encoded'

type Item = {
  id: number
  type: string
  data: Part
  properties?: Part[]
  name?: string
  isHidden?: boolean
  isSmall?: boolean
  shift?: number
  length?: number
}

export type AvifOptions = {
  exif?: Uint8Array
  xmp?: string
  /** The name of handlers and items. */
  name?: string
  /** Unreferenced bytes, in mdat and in extra boxes. */
  stray?: string
  profile?: Uint8Array
  hasAlpha?: boolean
  isGrid?: boolean
  hasThumbnail?: boolean
  /** Quarter turns. */
  rotation?: number
  /** Uses the table versions with 4-byte item IDs. */
  isWide?: boolean
  /** Stores metadata in idat. */
  isSmall?: boolean
  width?: number
  height?: number
  /** An error in the offset of the image data, and its stated length. */
  shift?: number
  length?: number
  brands?: string[]
  data?: Part
  /** The grid descriptor: rows - 1, columns - 1 and size. */
  grid?: Part
  cells?: Part[]
  /** The auxiliary type of the second image. */
  auxiliary?: string
  /** Additional properties of the image. */
  properties?: Part[]
  /** Additional boxes, at the top level and in meta. */
  boxes?: Part[]
  tables?: Part[]
  references?: Part[]
  /** Further entries of iinf, iloc (version 0) and ipma. */
  entries?: Part[]
  locations?: Part[]
  associations?: Part[]
  /** Writes the iloc box of a single-item file, given the offset and length of its data. */
  writeLocations?: (start: number, length: number) => Part
}

export const box = (type: string, ...parts: Part[]) => {
  const content = join(...parts)
  return join(u32(content.length + 8), type, content)
}

/** A box with a version and flags. */
export const fullBox = (type: string, version: number, flags: number, ...parts: Part[]) =>
  box(type, [version], big(flags, 3), ...parts)

/** A truncated AV1 sequence header that states a size of 16 bits each way. */
export const codedSize = (width: number, height: number) => {
  const binary = (value: number) => (value - 1).toString(2).padStart(16, '0')
  const bits = `000110000011111111${binary(width)}${binary(height)}`.padEnd(96, '0')
  const bytes = (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2))
  return [0x12, 0, 0x0a, bytes.length, ...bytes]
}

const ALPHA = 'urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0'
const configuration = box('av1C', [0x81, 0x20, 0, 0])
const alphaConfiguration = box('av1C', [0x81, 0, 0x1c, 0])
const sizeProperty = (width: number, height: number) => fullBox('ispe', 0, 0, u32(width, height))
const handler = (name: string) => fullBox('hdlr', 0, 0, u32(0), 'pict', zeros(12), name, [0])

// Sorted by ID: readers require sorted associations.
const listItems = (options: AvifOptions): Item[] => {
  const { name = '', isSmall, width = 24, height = 16, shift, length, data = colour } = options
  const size = sizeProperty(width, height)
  const common = [
    fullBox('pixi', 0, 0, [3, 8, 8, 8]),
    box('colr', 'nclx', u16(1, 13, 6), [0x80]),
    ...(options.profile ? [box('colr', 'prof', options.profile)] : []),
    ...(options.rotation ? [box('irot', [options.rotation])] : []),
    ...(options.stray ? [box('udes', options.stray)] : []),
    ...(options.properties ?? []),
  ]
  const grid = options.grid ?? [0, 0, 0, 1, ...u16(128, 64)]
  const items: Item[] = [
    options.isGrid
      ? { id: 1, type: 'grid', data: grid, properties: [sizeProperty(128, 64), ...common] }
      : { id: 1, type: 'av01', data, properties: [size, configuration, ...common], shift, length },
  ]
  if (options.hasAlpha) {
    const type = fullBox('auxC', 0, 0, options.auxiliary ?? ALPHA)
    items.push({ id: 4, type: 'av01', data: alpha, properties: [size, alphaConfiguration, type] })
  }
  if (options.exif) items.push({ id: 5, type: 'Exif', data: join(u32(0), options.exif), isSmall })
  if (options.xmp) items.push({ id: 6, type: 'mime', data: options.xmp, isSmall, name: `${name}\0application/rdf+xml` })
  const thumbnail = join(colour, 'Thumbnail')
  if (options.hasThumbnail) items.push({ id: 7, type: 'av01', data: thumbnail, properties: [size, configuration] })
  if (options.isGrid) {
    const properties = [sizeProperty(64, 64), configuration]
    const cells = options.cells ?? [tile, tile]
    items.push(...cells.map((data, at) => ({ id: 10 + at, type: 'av01', data, properties, isHidden: true })))
  }
  return items
}

/** Builds an AVIF from tiny encoded images. */
export const avifFile = (options: AvifOptions = {}) => {
  const { name = '', stray = '', isWide, isGrid } = options
  const items = listItems(options)
  const small = items.filter((item) => item.isSmall)
  const large = items.filter((item) => !item.isSmall)
  const version = isWide ? 1 : 0
  const itemIds = isWide ? u32 : u16

  const entries = items.map((item) =>
    fullBox('infe', 2 + version, item.isHidden ? 1 : 0, itemIds(item.id), u16(0), item.type, item.name ?? name, [0]),
  )
  const list = (type: string, from: number, ...to: number[]) => box(type, itemIds(from), u16(to.length), itemIds(...to))
  const references = join(
    isGrid && list('dimg', 1, ...items.flatMap(({ id }) => (id >= 10 ? id : []))),
    options.hasAlpha && list('auxl', 4, 1),
    options.exif && list('cdsc', 5, 1),
    options.xmp && list('cdsc', 6, 1),
    options.hasThumbnail && list('thmb', 7, 1),
    ...(options.references ?? []),
  )
  let number = 0
  // Readers require irot to be essential.
  const numberOf = (property: Part) => ++number + (toText(join(property)).startsWith('irot', 4) ? 128 : 0)
  const associations = [
    ...items.map(({ id, properties = [] }) => join(itemIds(id), [properties.length], properties.map(numberOf))),
    ...(options.associations ?? []),
  ]
  const offsetIn = (group: Item[], item: Item, gap: number) =>
    group.slice(0, group.indexOf(item)).reduce((sum, { data }) => sum + data.length + gap, gap)
  const locate = (item: Item, start: number) => {
    const { id, isSmall, data, shift = 0, length = data.length } = item
    const offset = isSmall ? offsetIn(small, item, 0) : start + offsetIn(large, item, stray.length) + shift
    const method = isWide || small.length > 0 ? u16(isSmall ? 1 : 0) : []
    return join(itemIds(id), method, u16(0, 1), u32(offset, length))
  }
  const writeLocations = (start: number) => {
    const locations = [...items.map((item) => locate(item, start)), ...(options.locations ?? [])]
    return fullBox('iloc', isWide ? 2 : small.length > 0 ? 1 : 0, 0, [0x44, 0], itemIds(locations.length), ...locations)
  }
  const meta = (start: number) =>
    fullBox(
      'meta',
      0,
      0,
      handler(name),
      fullBox('pitm', version, 0, itemIds(1)),
      options.writeLocations?.(start, colour.length) ?? writeLocations(start),
      fullBox('iinf', version, 0, itemIds(items.length), ...entries, ...(options.entries ?? [])),
      references.length > 0 ? fullBox('iref', version, 0, references) : '',
      box(
        'iprp',
        box('ipco', ...items.flatMap(({ properties = [] }) => properties)),
        fullBox('ipma', version, 0, u32(associations.length), ...associations),
      ),
      small.length > 0 ? box('idat', ...small.map(({ data }) => data)) : '',
      ...(options.tables ?? []),
    )
  const [major = '', ...compatible] = options.brands ?? ['avif', 'avif', 'mif1', 'miaf']
  const content = join(...large.flatMap(({ data }) => [stray, data]), stray)
  const head = (start: number) =>
    join(
      box('ftyp', major, u32(0), ...compatible),
      stray && box('free', stray),
      meta(start),
      stray && box('uuid', 'GPSMARK GPSMARK ', stray),
      ...(options.boxes ?? []),
    )
  const start = head(0).length + 8
  return join(head(start), box('mdat', content, stray))
}
