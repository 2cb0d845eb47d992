import { joinBytes, readText, writeText, writeUint } from '../bytes'
import { type CleanedImage, type CountParts, listChunks } from '../image'
import { findBox, readBox, writeBox } from './boxes'
import { readItems } from './items'
import { planCopy, type Relocate } from './ranges'
import { findStillImage, stillImageWriter } from './still'

// The brands of still images and their profiles (AVIF, 6 and 8; MIAF, 10). Others are dropped, because a brand can be
// any four bytes.
const BRANDS = ['avif', 'mif1', 'miaf', 'MA1A', 'MA1B']

const readBrands = (bytes: Uint8Array) => {
  const box = readBox(bytes, 0, bytes.length)
  if (box?.type !== 'ftyp' || box.end > 4096) return []
  const brands = [readText(bytes, box.start, 4)]
  for (let at = box.start + 8; at + 4 <= box.end; at += 4) brands.push(readText(bytes, at, 4))
  return brands
}

const writeBrands = (brands: string[]) => {
  const known = BRANDS.filter((brand) => brands.includes(brand))
  return writeBox('ftyp', [writeText('avif'), writeUint(0, 4), ...known.map(writeText)])
}

/** Whether the bytes start like an AVIF of a still image. Animations have the brand avis (AVIF, 6.3). */
export const isAvif = (bytes: Uint8Array) => {
  const brands = readBrands(bytes)
  return brands.includes('avif') && !brands.includes('avis')
}

/**
 * Rebuilds an AVIF from the items that are rendered and their properties. Exif and XMP items are removed together with
 * their entries rather than blanked, because readers fail on an Exif item they cannot parse. Orientation is a property
 * of the image and stays.
 * @returns undefined if it is corrupt or truncated
 */
export const cleanAvif = (bytes: Uint8Array, countParts: CountParts): CleanedImage | undefined => {
  // Ignores a truncated box at the end. If image data was in it, cleaning fails because the data is not found.
  const boxes = listChunks((at) => readBox(bytes, at, bytes.length), 0, countParts)
  const meta = findBox(boxes, 'meta')
  const table = meta && readItems(bytes, meta, countParts)
  const still = table && findStillImage(bytes, table)
  if (!still) return undefined
  const extents = still.items.flatMap((item) => item.extents)
  const data = boxes.filter(({ type }) => type === 'mdat')
  if (table.idat) data.push(table.idat)
  data.sort((one, other) => one.start - other.start)
  const plan = planCopy(extents, data)
  if (!plan) return undefined
  const brands = writeBrands(readBrands(bytes))
  const writeMeta = stillImageWriter(bytes, still)
  const writeHead = (relocate: Relocate) => joinBytes([brands, writeMeta(relocate)])
  const length = writeHead(() => 0).length + 8
  const head = writeHead((at) => length + plan.relocate(at))
  const runs = plan.runs.map((run) => bytes.subarray(run.start, run.end))
  const mdat = [writeUint(plan.length + 8, 4), writeText('mdat'), ...runs]
  return { width: still.width, height: still.height, bytes: joinBytes([head, ...mdat]) }
}
