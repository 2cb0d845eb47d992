import { readUint, writeText, writeUint } from '../bytes'
import { isAllowedSize, limitPixels, MAX_PIXELS } from '../image'
import { readCodedSize } from './av1'
import { writeBox, writeFullBox } from './boxes'
import { cleanProperty, isAlpha, readStatedSize } from './item-properties'
import type { Item, ItemTable, Reference } from './items'
import type { Relocate } from './ranges'

/** The rendered items of a file, the primary item first, and its size. */
type StillImage = { width: number; height: number; items: Item[]; table: ItemTable }

const propertiesOf = (item: Item, { properties }: ItemTable) =>
  item.properties.flatMap(({ index }) => properties[index - 1] ?? [])

const readStatedSizeOf = (bytes: Uint8Array, item: Item, table: ItemTable) =>
  propertiesOf(item, table).flatMap((property) => readStatedSize(bytes, property) ?? [])[0]

const isAlphaPlane = (bytes: Uint8Array, item: Item, table: ItemTable) =>
  propertiesOf(item, table).some((property) => isAlpha(bytes, property))

// A coded image repeats its size in its data.
const readCodedImageSize = (bytes: Uint8Array, { extents }: Item) =>
  extents.length > 0 ? readCodedSize(bytes.subarray(extents[0]?.start, extents[0]?.end)) : undefined

// A grid states its rows - 1, columns - 1 and size (HEIF, 6.6.2.3.2).
const readGridSize = (bytes: Uint8Array, { extents }: Item, lists: Reference[], { items }: ItemTable) => {
  const data = bytes.subarray(extents[0]?.start, extents[0]?.end)
  const width = (data[1] ?? 0) & 1 ? 4 : 2
  const cells = ((data[2] ?? 0) + 1) * ((data[3] ?? 0) + 1)
  const [parts, ...others] = lists
  const hasAllCells = parts?.to.length === cells && parts.to.every((part) => items.get(part)?.type === 'av01')
  if (!hasAllCells || others.length > 0 || extents.length !== 1 || data.length !== 4 + 2 * width) return undefined
  return { width: readUint(data, 4, width), height: readUint(data, 4 + width, width) }
}

/**
 * Finds the items that are rendered: the primary item, the cells of a grid, and the alpha planes of either. Drops
 * thumbnails, depth maps, other images of a burst and HDR gain maps.
 * @returns undefined if one of them is missing or corrupt
 */
export const findStillImage = (bytes: Uint8Array, table: ItemTable): StillImage | undefined => {
  const primary = table.items.get(table.primary)
  if (!primary) return undefined
  // Looked up per reference and per grid, of which there may be thousands.
  const alphaPlanes = new Set([...table.items.values()].filter((item) => isAlphaPlane(bytes, item, table)))
  const derived = table.references.filter(({ type }) => type === 'dimg')
  const grids = Map.groupBy(derived, ({ from }) => from)
  const needed = new Map<number, Set<number>>()
  const addNeeded = (by: number, id: number) => needed.set(by, (needed.get(by) ?? new Set()).add(id))
  for (const { type, from, to } of table.references) {
    const item = table.items.get(from)
    for (const id of to) {
      if (type === 'dimg') addNeeded(from, id)
      if (type === 'auxl' && item && alphaPlanes.has(item)) addNeeded(id, from)
    }
  }
  // Iterating a set also visits what is added meanwhile, each value once, so cycles end.
  const ids = new Set([primary.id])
  for (const id of ids) for (const next of needed.get(id) ?? []) ids.add(next)
  const items = [...ids].map((id) => table.items.get(id)).filter((item) => item !== undefined)
  let pixels = 0
  for (const item of items) {
    const stated = readStatedSizeOf(bytes, item, table)
    const size =
      item.type === 'grid'
        ? readGridSize(bytes, item, grids.get(item.id) ?? [], table)
        : readCodedImageSize(bytes, item)
    if (!stated || !size || !isAllowedSize(stated.width, stated.height) || !isAllowedSize(size.width, size.height)) {
      return undefined
    }
    pixels += size.width * size.height
  }
  // The largest valid image is a grid, its cells, an alpha grid and the cells of that.
  limitPixels(pixels, 4 * MAX_PIXELS)
  const size = readStatedSizeOf(bytes, primary, table)
  return size && { ...size, items, table }
}

// Item locations, as file offsets (ISO/IEC 14496-12, 8.11.3).
const writeLocations = (items: Item[], relocate: Relocate) => {
  const entries = items.flatMap(({ extents }, index) => [
    writeUint(index + 1, 2),
    writeUint(0, 2),
    writeUint(extents.length, 2),
    ...extents.flatMap(({ start, end }) => [writeUint(relocate(start), 4), writeUint(end - start, 4)]),
  ])
  return writeFullBox('iloc', 0, [writeUint(0x4400, 2), writeUint(items.length, 2), ...entries])
}

const writeEntry = ({ type, isHidden }: Item, index: number) => {
  const entry = [writeUint(index + 1, 2), writeUint(0, 2), writeText(type), new Uint8Array(1)]
  return writeBox('infe', [Uint8Array.of(2, 0, 0, isHidden ? 1 : 0), ...entry])
}

const writeReferences = ({ items, table }: StillImage) => {
  const numbers = new Map(items.map(({ id }, index) => [id, index + 1]))
  const lists = table.references.flatMap(({ type, from, to }) => {
    const numbersTo = to.map((id) => numbers.get(id)).filter((number) => number !== undefined)
    const number = numbers.get(from)
    if (!number || numbersTo.length === 0) return []
    const list = [writeUint(number, 2), writeUint(numbersTo.length, 2), ...numbersTo.map((id) => writeUint(id, 2))]
    return [writeBox(type, list)]
  })
  return lists.length > 0 ? [writeFullBox('iref', 0, lists)] : []
}

// Properties are numbered by their order; the highest bit of a number marks an essential property.
const writeProperties = (bytes: Uint8Array, { items, table }: StillImage) => {
  const written: Uint8Array[] = []
  const numbers = new Map<number, number>()
  const numberOf = (index: number) => {
    const property = table.properties[index - 1]
    const known = numbers.get(index)
    if (known !== undefined) return known
    const clean = property && cleanProperty(bytes, property)
    const number = clean ? written.push(clean) : 0
    numbers.set(index, number)
    return number
  }
  const entries = items.flatMap(({ properties }, item) => {
    const kept = properties.map(({ index, isEssential }) => ({ number: numberOf(index), isEssential }))
    const values = kept.filter(({ number }) => number > 0)
    const list = values.map(({ number, isEssential }) => writeUint(number + (isEssential ? 0x8000 : 0), 2))
    return [writeUint(item + 1, 2), writeUint(list.length, 1), ...list]
  })
  const associations = [Uint8Array.of(0, 0, 0, 1), writeUint(items.length, 4), ...entries]
  return writeBox('iprp', [writeBox('ipco', written), writeBox('ipma', associations)])
}

/** Returns a function that writes a meta box with these items only, renumbered from 1. */
export const stillImageWriter = (bytes: Uint8Array, still: StillImage) => {
  const { items } = still
  // Everything but the locations is written only once, since there may be thousands of entries.
  const tables = [
    writeFullBox('iinf', 0, [writeUint(items.length, 2), ...items.map(writeEntry)]),
    ...writeReferences(still),
    writeProperties(bytes, still),
  ]
  return (relocate: Relocate) =>
    writeFullBox('meta', 0, [
      // A handler with an empty name (8.4.3).
      writeFullBox('hdlr', 0, [new Uint8Array(4), writeText('pict'), new Uint8Array(12 + 1)]),
      writeFullBox('pitm', 0, [writeUint(1, 2)]),
      writeLocations(items, relocate),
      ...tables,
    ])
}
