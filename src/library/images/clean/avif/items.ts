import { hasText, readText, readUint } from '../bytes'
import type { CountParts } from '../image'
import { type Box, findBox, listBoxes, readContent } from './boxes'
import type { Range } from './ranges'

/** A coded image or a grid of them. Its properties are given by their 1-based index in the table. */
export type Item = {
  id: number
  type: string
  isHidden: boolean
  extents: Range[]
  properties: { index: number; isEssential: boolean }[]
}

/** A reference between items, such as from a grid to its cells or from an alpha plane to its image. */
export type Reference = { type: string; from: number; to: number[] }

/** The contents of a meta box, without items that are never rendered. */
export type ItemTable = {
  primary: number
  items: Map<number, Item>
  references: Reference[]
  properties: Box[]
  /** The box that contains the data of small items. */
  idat: Box | undefined
}

// Drops Exif, XMP and other types of item, and derived images that browsers do not support (AVIF, 4.2).
const TYPES = ['av01', 'grid']

// Item information entries (ISO/IEC 14496-12, 8.11.6, as all sections here). Versions below 2 have no type.
const readEntries = (bytes: Uint8Array, box: Box, countParts: CountParts) => {
  const countWidth = bytes[box.start] === 0 ? 2 : 4
  const entries = listBoxes(bytes, box.start + 4 + countWidth, box.end, countParts)
  if (!entries) return undefined
  const items = new Map<number, Item>()
  for (const entry of entries) {
    const version = bytes[entry.start] ?? 0
    const width = version === 2 ? 2 : 4
    const id = readUint(bytes, entry.start + 4, width)
    const type = readText(bytes, entry.start + 4 + width + 2, 4)
    const isHidden = ((bytes[entry.start + 3] ?? 0) & 1) === 1
    const isProtected = readUint(bytes, entry.start + 4 + width, 2) !== 0
    if (entry.type !== 'infe' || version < 2 || entry.end < entry.start + 10 + width || items.has(id)) return undefined
    if (TYPES.includes(type) && !isProtected) items.set(id, { id, type, isHidden, extents: [], properties: [] })
  }
  return items
}

// Lists of item IDs by reference type (8.11.12).
const readReferences = (bytes: Uint8Array, box: Box, items: Map<number, Item>, countParts: CountParts) => {
  const width = bytes[box.start] === 0 ? 2 : 4
  const boxes = listBoxes(bytes, box.start + 4, box.end, countParts)
  const references: Reference[] = []
  if (!boxes) return undefined
  for (const { type, start, end } of boxes) {
    const from = readUint(bytes, start, width)
    const count = readUint(bytes, start + width, 2)
    const first = start + width + 2
    // Only a grid is derived from other items.
    const isKept =
      type === 'dimg' ? items.get(from)?.type === 'grid' : ['auxl', 'prem'].includes(type) && items.has(from)
    if (!isKept) continue
    if (count < 1 || first + count * width > end) return undefined
    countParts(count)
    const to = Array.from({ length: count }, (_, index) => readUint(bytes, first + index * width, width))
    references.push({ type, from, to: to.filter((id) => items.has(id)) })
  }
  return references
}

// The properties of each item (8.11.14).
const readAssociations = (bytes: Uint8Array, box: Box, items: Map<number, Item>, countParts: CountParts) => {
  const idWidth = bytes[box.start] === 0 ? 2 : 4
  const width = (bytes[box.start + 3] ?? 0) & 1 ? 2 : 1
  const essential = width === 2 ? 0x8000 : 0x80
  const count = readUint(bytes, box.start + 4, 4)
  let at = box.start + 8
  for (let entry = 0; entry < count; entry++) {
    const amount = bytes[at + idWidth] ?? 0
    const first = at + idWidth + 1
    const item = items.get(readUint(bytes, at, idWidth))
    at = first + amount * width
    if (at > box.end) return false
    countParts(1 + amount)
    if (!item) continue
    if (item.properties.length > 0) return false
    const values = Array.from({ length: amount }, (_, index) => readUint(bytes, first + index * width, width))
    item.properties = values.map((value) => ({ index: value % essential, isEssential: value >= essential }))
  }
  return true
}

// Item data is stored in the file (method 0) or in the idat box (method 1) (8.11.3).
const readLocations = (
  bytes: Uint8Array,
  box: Box,
  items: Map<number, Item>,
  idat: Box | undefined,
  countParts: CountParts,
) => {
  const version = bytes[box.start] ?? 0
  const sizes = readUint(bytes, box.start + 4, 2)
  const widths = [sizes >> 12, (sizes >> 8) & 15, (sizes >> 4) & 15, version === 0 ? 0 : sizes & 15]
  const [offsetWidth = 0, lengthWidth = 0, baseWidth = 0, indexWidth = 0] = widths
  const width = indexWidth + offsetWidth + lengthWidth
  const idWidth = version < 2 ? 2 : 4
  const methodWidth = version === 0 ? 0 : 2
  const count = readUint(bytes, box.start + 6, idWidth)
  if (version > 2 || !widths.every((each) => [0, 4, 8].includes(each))) return false
  let at = box.start + 6 + idWidth
  for (let entry = 0; entry < count; entry++) {
    const item = items.get(readUint(bytes, at, idWidth))
    const method = readUint(bytes, at + idWidth, methodWidth) & 15
    const reference = at + idWidth + methodWidth
    const base = readUint(bytes, reference + 2, baseWidth)
    const extents = readUint(bytes, reference + 2 + baseWidth, 2)
    const first = reference + 4 + baseWidth
    at = first + extents * width
    if (extents < 0 || at > box.end) return false
    countParts(1 + extents)
    if (!item) continue
    const within = method === 0 ? { start: 0, end: bytes.length } : method === 1 ? idat : undefined
    if (!within || readUint(bytes, reference, 2) !== 0 || item.extents.length > 0) return false
    for (let extent = first; extent < at; extent += width) {
      const start = within.start + base + readUint(bytes, extent + indexWidth, offsetWidth)
      const end = start + readUint(bytes, extent + indexWidth + offsetWidth, lengthWidth)
      // An extent without a length would run to the end of the file and include everything there.
      if (end <= start || end > within.end) return false
      item.extents.push({ start, end })
    }
  }
  return true
}

/** Reads a meta box; undefined if it is corrupt or does not describe images. */
export const readItems = (bytes: Uint8Array, meta: Box, countParts: CountParts): ItemTable | undefined => {
  const boxes = listBoxes(bytes, meta.start + 4, meta.end, countParts) ?? []
  const [handler, primary, info] = ['hdlr', 'pitm', 'iinf'].map((type) => findBox(boxes, type))
  const [locations, properties, relations] = ['iloc', 'iprp', 'iref'].map((type) => findBox(boxes, type))
  if (!handler || !primary || !info || !locations || !properties) return undefined
  const parts = listBoxes(bytes, properties.start, properties.end, countParts) ?? []
  const container = findBox(parts, 'ipco')
  const items = readEntries(bytes, info, countParts)
  if (!hasText(readContent(bytes, handler), 8, 'pict') || !items || !container) return undefined
  const associations = parts.filter(({ type }) => type === 'ipma')
  if (!associations.every((box) => readAssociations(bytes, box, items, countParts))) return undefined
  const idat = findBox(boxes, 'idat')
  if (!readLocations(bytes, locations, items, idat, countParts)) return undefined
  const list = listBoxes(bytes, container.start, container.end, countParts)
  const references = relations ? readReferences(bytes, relations, items, countParts) : []
  const id = readUint(bytes, primary.start + 4, bytes[primary.start] === 0 ? 2 : 4)
  return list && references && { primary: id, items, references, properties: list, idat }
}
