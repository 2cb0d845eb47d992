import { readItems } from './avif-items'
import { findDrawing, writeDrawing } from './avif-picture'
import { readSequence } from './avif-sequence'
import { type Box, findBox, listBoxes, MAX_BOXES, readBox, writeBox } from './boxes'
import { joinBytes, readText, writeText, writeUint } from './bytes'
import type { CleanPicture } from './picture'
import { planMove } from './ranges'

// The brands of still pictures and animations and of their profiles (AVIF, 6 and 8; MIAF, 10). Brands are free text
// of four bytes each, so others are not copied.
const BRANDS = ['avif', 'mif1', 'miaf', 'MA1A', 'MA1B']
const SEQUENCE_BRANDS = ['avis', 'msf1', 'iso8']

const readBrands = (bytes: Uint8Array) => {
  const box = readBox(bytes, 0, bytes.length)
  if (box?.type !== 'ftyp' || box.end > 4096) return undefined
  const brands = [readText(bytes, box.start, 4)]
  for (let at = box.start + 8; at + 4 <= box.end; at += 4) brands.push(readText(bytes, at, 4))
  return brands.includes('avif') || brands.includes('avis') ? brands : undefined
}

// What follows the last whole box is left out; that nothing needed was in it shows when the data is looked for.
const listTopBoxes = (bytes: Uint8Array) => {
  const boxes: Box[] = []
  for (let box = readBox(bytes, 0, bytes.length); box && boxes.length < MAX_BOXES; ) {
    boxes.push(box)
    box = readBox(bytes, box.end, bytes.length)
  }
  return boxes
}

// The boxes that hold data: at the top, and the one for small data inside the tables.
const listDataBoxes = (bytes: Uint8Array, boxes: Box[], meta: Box) => {
  const small = findBox(listBoxes(bytes, meta.start + 4, meta.end) ?? [], 'idat')
  const data = boxes.filter(({ type }) => type === 'mdat')
  return (small ? [...data, small] : data).sort((one, other) => one.start - other.start)
}

const writeBrands = (brands: string[], isAnimated: boolean) => {
  const known = [...BRANDS, ...(isAnimated ? SEQUENCE_BRANDS : [])].filter((brand) => brands.includes(brand))
  const major = isAnimated && brands[0] === 'avis' ? 'avis' : 'avif'
  return writeBox('ftyp', [writeText(major), writeUint(0, 4), ...[...new Set([major, ...known])].map(writeText)])
}

/**
 * Rebuilds an AVIF from the items and tracks that are drawn and the properties that say how. Exif and XMP are items of
 * their own: they are not overwritten where they are but left out together with their entries, since readers fail on
 * an Exif item they cannot parse. Orientation needs nothing, being a property here. Undefined when the file is broken,
 * cut off, or not an AVIF.
 */
export const cleanAvif = (bytes: Uint8Array): CleanPicture | undefined => {
  const brands = readBrands(bytes)
  const boxes = brands ? listTopBoxes(bytes) : []
  const meta = findBox(boxes, 'meta')
  const table = meta && readItems(bytes, meta)
  const drawing = table && findDrawing(bytes, table)
  if (!brands || !drawing) return undefined
  const movie = brands.includes('avis') ? findBox(boxes, 'moov') : undefined
  const sequence = movie && readSequence(bytes, movie)
  // A file that says it is an animation is read as one, and has to be.
  if ((movie || brands[0] === 'avis') && !sequence) return undefined
  const extents = drawing.items.flatMap((item) => item.extents)
  const plan = planMove([...extents, ...(sequence?.chunks ?? [])], listDataBoxes(bytes, boxes, meta))
  if (!plan) return undefined
  const writeHead = (move: (at: number) => number) =>
    joinBytes([
      writeBrands(brands, sequence !== undefined),
      writeDrawing(bytes, drawing, move),
      ...(sequence ? [sequence.write(move)] : []),
    ])
  const length = writeHead(() => 0).length + 8
  const data = [
    writeUint(plan.length + 8, 4),
    writeText('mdat'),
    ...plan.runs.map((run) => bytes.subarray(run.start, run.end)),
  ]
  const head = writeHead((at) => length + plan.move(at))
  return { width: drawing.width, height: drawing.height, bytes: joinBytes([head, ...data]) }
}
