import { alpha, box, colour, configuration, fullBox, sizeProperty, tile, writeTracks } from './avif-boxes'
import { big, join, type Part } from './bytes'

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
  exif?: Uint8Array | undefined
  xmp?: string | undefined
  /** The name of handlers and items. */
  name?: string | undefined
  /** Unreferenced bytes, in mdat and in extra boxes. */
  stray?: string | undefined
  profile?: Uint8Array | undefined
  hasAlpha?: boolean
  isGrid?: boolean
  isAnimated?: boolean
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
  /** The auxiliary type of the second image. */
  auxiliary?: string
  /** Additional properties of the image. */
  properties?: Part[]
  /** The cells of a grid. */
  cells?: Part[]
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

const alphaConfiguration = box('av1C', [0x81, 0, 0x1c, 0])
const ALPHA = 'urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0'

const listItems = (options: AvifOptions): Item[] => {
  const { name = '', isSmall = false, width = 24, height = 16 } = options
  const size = sizeProperty(width, height)
  const note = box('udes', options.stray ?? '')
  const common = [
    fullBox('pixi', 0, 0, [3, 8, 8, 8]),
    box('colr', 'nclx', big(1, 2), big(13, 2), big(6, 2), [0x80]),
    ...(options.profile ? [box('colr', 'prof', options.profile)] : []),
    ...(options.rotation ? [box('irot', [options.rotation])] : []),
    ...(options.stray ? [note] : []),
    ...(options.properties ?? []),
  ]
  const location = { shift: options.shift ?? 0, ...(options.length === undefined ? {} : { length: options.length }) }
  const data = options.data ?? colour
  const gridProperties = [sizeProperty(128, 64), ...common]
  const cells = (options.cells ?? [tile, tile]).map((cell, index) => ({
    id: 10 + index,
    type: 'av01',
    data: cell,
    properties: [sizeProperty(64, 64), configuration],
    isHidden: true,
  }))
  const items: Item[] = options.isGrid
    ? [{ id: 1, type: 'grid', data: options.grid ?? [0, 0, 0, 1, 0, 128, 0, 64], properties: gridProperties }, ...cells]
    : [{ id: 1, type: 'av01', data, properties: [size, configuration, ...common], ...location }]
  const alphaType = fullBox('auxC', 0, 0, options.auxiliary ?? ALPHA)
  if (options.hasAlpha)
    items.push({ id: 4, type: 'av01', data: alpha, properties: [size, alphaConfiguration, alphaType] })
  if (options.exif) items.push({ id: 5, type: 'Exif', data: join(big(0, 4), options.exif), isSmall })
  if (options.xmp) items.push({ id: 6, type: 'mime', data: options.xmp, isSmall, name: `${name}\0application/rdf+xml` })
  if (options.hasThumbnail) {
    items.push({ id: 7, type: 'av01', data: join(colour, 'Thumbnail'), properties: [size, configuration] })
  }
  // Readers require associations to be sorted by item ID.
  return items.map((item) => ({ name, ...item })).sort((one, other) => one.id - other.id)
}

/** Builds an AVIF from tiny encoded images. */
export const avifFile = (options: AvifOptions = {}) => {
  const { name = '', stray = '', isWide = false } = options
  const items = listItems(options)
  const properties = items.flatMap((item) => item.properties ?? [])
  const wide = isWide ? 4 : 2
  const entries = items.map(({ id, type, name: label = '', isHidden }) =>
    fullBox('infe', isWide ? 3 : 2, isHidden ? 1 : 0, big(id, wide), big(0, 2), type, label, [0]),
  )
  const list = (type: string, from: number, ...to: number[]) =>
    box(
      type,
      big(from, wide),
      big(to.length, 2),
      to.flatMap((id) => big(id, wide)),
    )
  const references = join(
    options.isGrid ? list('dimg', 1, ...items.filter(({ id }) => id >= 10).map(({ id }) => id)) : '',
    options.hasAlpha ? list('auxl', 4, 1) : '',
    options.exif ? list('cdsc', 5, 1) : '',
    options.xmp ? list('cdsc', 6, 1) : '',
    options.hasThumbnail ? list('thmb', 7, 1) : '',
    ...(options.references ?? []),
  )
  let number = 0
  // Readers require irot to be essential.
  const numberOf = (property: Part) => ++number + (join(property).subarray(4, 8).join() === '105,114,111,116' ? 128 : 0)
  const associations = [
    ...items.map(({ id, properties: own = [] }) => join(big(id, wide), [own.length], own.map(numberOf))),
    ...(options.associations ?? []),
  ]
  const small = items.filter((item) => item.isSmall)
  const large = items.filter((item) => !item.isSmall)
  const offsetIn = (group: Item[], item: Item, gap: number) =>
    group.slice(0, group.indexOf(item)).reduce((sum, { data }) => sum + data.length + gap, gap)
  const still = large.reduce((sum, { data }) => sum + stray.length + data.length, stray.length)
  const locations = (start: number) =>
    items.map((item) => {
      const at = item.isSmall
        ? offsetIn(small, item, 0)
        : start + offsetIn(large, item, stray.length) + (item.shift ?? 0)
      const method = isWide || small.length > 0 ? big(item.isSmall ? 1 : 0, 2) : []
      return join(big(item.id, wide), method, big(0, 2), big(1, 2), big(at, 4), big(item.length ?? item.data.length, 4))
    })
  const meta = (start: number) =>
    fullBox(
      'meta',
      0,
      0,
      fullBox('hdlr', 0, 0, big(0, 4), 'pict', big(0, 12), name, [0]),
      fullBox('pitm', isWide ? 1 : 0, 0, big(1, wide)),
      options.writeLocations?.(start, colour.length) ??
        fullBox(
          'iloc',
          isWide ? 2 : small.length > 0 ? 1 : 0,
          0,
          [0x44, 0],
          big(items.length + (options.locations ?? []).length, wide),
          ...locations(start),
          ...(options.locations ?? []),
        ),
      fullBox('iinf', isWide ? 1 : 0, 0, big(items.length, wide), ...entries, ...(options.entries ?? [])),
      references.length > 0 ? fullBox('iref', isWide ? 1 : 0, 0, references) : '',
      box(
        'iprp',
        box('ipco', ...properties),
        fullBox('ipma', isWide ? 1 : 0, 0, big(associations.length, 4), ...associations),
      ),
      small.length > 0 ? box('idat', ...small.map((item) => item.data)) : '',
      ...(options.tables ?? []),
    )
  const usual = options.isAnimated ? ['avis', 'avif', 'avis', 'msf1', 'mif1', 'miaf'] : ['avif', 'avif', 'mif1', 'miaf']
  const [major = '', ...compatible] = options.brands ?? usual
  const head = (start: number) =>
    join(
      box('ftyp', major, big(0, 4), ...compatible),
      stray ? box('free', stray) : '',
      meta(start),
      options.isAnimated ? writeTracks(start + still, options) : '',
      stray ? box('uuid', 'GPSMARK GPSMARK ', stray) : '',
      ...(options.boxes ?? []),
    )
  const start = head(0).length + 8
  const frames = options.isAnimated ? [colour, colour] : []
  return join(head(start), box('mdat', ...large.flatMap((item) => [stray, item.data]), stray, ...frames, stray))
}
