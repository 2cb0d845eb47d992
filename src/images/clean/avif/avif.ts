import { joinBytes, readText, writeText, writeUint } from '../bytes'
import type { CleanedImage } from '../image'
import { type Box, findBox, listBoxes, MAX_BOXES, readBox, writeBox } from './boxes'
import { readItems } from './items'
import { planCopy, type Relocate } from './ranges'
import { readSequence } from './sequence'
import { findStillImage, writeStillImage } from './still'

// The brands of still images, animations and their profiles (AVIF, 6 and 8; MIAF, 10). Others are dropped, because a
// brand can be any four bytes.
const BRANDS = ['avif', 'mif1', 'miaf', 'MA1A', 'MA1B']
const SEQUENCE_BRANDS = ['avis', 'msf1', 'iso8']

const readBrands = (bytes: Uint8Array) => {
  const box = readBox(bytes, 0, bytes.length)
  if (box?.type !== 'ftyp' || box.end > 4096) return undefined
  const brands = [readText(bytes, box.start, 4)]
  for (let at = box.start + 8; at + 4 <= box.end; at += 4) brands.push(readText(bytes, at, 4))
  return brands.includes('avif') || brands.includes('avis') ? brands : undefined
}

// Ignores a truncated box at the end. If image data was in it, cleaning fails because the data is not found.
const listTopBoxes = (bytes: Uint8Array) => {
  const boxes: Box[] = []
  for (let box = readBox(bytes, 0, bytes.length); box && boxes.length < MAX_BOXES; ) {
    boxes.push(box)
    box = readBox(bytes, box.end, bytes.length)
  }
  return boxes
}

// The boxes that contain item data: mdat at the top level and idat in the meta box.
const listDataBoxes = (bytes: Uint8Array, boxes: Box[], meta: Box) => {
  const idat = findBox(listBoxes(bytes, meta.start + 4, meta.end) ?? [], 'idat')
  const data = boxes.filter(({ type }) => type === 'mdat')
  return (idat ? [...data, idat] : data).sort((one, other) => one.start - other.start)
}

const writeBrands = (brands: string[], isAnimated: boolean) => {
  const known = [...BRANDS, ...(isAnimated ? SEQUENCE_BRANDS : [])].filter((brand) => brands.includes(brand))
  const major = isAnimated && brands[0] === 'avis' ? 'avis' : 'avif'
  return writeBox('ftyp', [writeText(major), writeUint(0, 4), ...[...new Set([major, ...known])].map(writeText)])
}

/** Whether the bytes start like an AVIF. */
export const isAvif = (bytes: Uint8Array) => readBrands(bytes) !== undefined

/**
 * Rebuilds an AVIF from the items and tracks that are rendered and their properties. Exif and XMP items are removed
 * together with their entries rather than blanked, because readers fail on an Exif item they cannot parse. Orientation
 * is a property of the image and stays.
 * @returns undefined if it is corrupt or truncated
 */
export const cleanAvif = (bytes: Uint8Array): CleanedImage | undefined => {
  const brands = readBrands(bytes)
  const boxes = brands ? listTopBoxes(bytes) : []
  const meta = findBox(boxes, 'meta')
  const table = meta && readItems(bytes, meta)
  const still = table && findStillImage(bytes, table)
  if (!brands || !still) return undefined
  const movie = brands.includes('avis') ? findBox(boxes, 'moov') : undefined
  const sequence = movie && readSequence(bytes, movie)
  // A file that claims to be animated must have a valid sequence.
  if ((movie || brands[0] === 'avis') && !sequence) return undefined
  const extents = still.items.flatMap((item) => item.extents)
  const plan = planCopy([...extents, ...(sequence?.chunks ?? [])], listDataBoxes(bytes, boxes, meta))
  if (!plan) return undefined
  const writeHead = (relocate: Relocate) =>
    joinBytes([
      writeBrands(brands, sequence !== undefined),
      writeStillImage(bytes, still, relocate),
      ...(sequence ? [sequence.write(relocate)] : []),
    ])
  const length = writeHead(() => 0).length + 8
  const data = [
    writeUint(plan.length + 8, 4),
    writeText('mdat'),
    ...plan.runs.map((run) => bytes.subarray(run.start, run.end)),
  ]
  const head = writeHead((at) => length + plan.relocate(at))
  return { width: still.width, height: still.height, bytes: joinBytes([head, ...data]) }
}
