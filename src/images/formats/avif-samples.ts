import { readCodedSize } from './av1'
import { cleanProperty } from './avif-properties'
import { type Box, copyFields, findBox, listBoxes, readContent, writeBox, writeFullBox } from './boxes'
import { readUint, writeUint } from './bytes'
import { isAllowedSize } from './picture'
import type { Range } from './ranges'

// All sections here are of ISO/IEC 14496-12. At ten frames a second this is half an hour, far beyond any picture.
const MAX_SAMPLES = 20_000

// Of a sample entry: the data reference, size, resolution, frames per sample and depth, but no compressor name (12.1.3).
const ENTRY = [6, 8, 24, 36, 40, 42, 74, 78]

/** Copies a table of as many entries of a width as it says (8.6 and 8.7). */
export const copyTable = (bytes: Uint8Array, box: Box, width: number) => {
  const length = 8 + readUint(bytes, box.start + 4, 4) * width
  return length < 8 || box.start + length > box.end ? undefined : bytes.subarray(box.start, box.start + length)
}

// A sample is as long as the table of sizes says, or all are of one size (8.7.3).
const readSampleSizes = (bytes: Uint8Array, box: Box) => {
  const all = readUint(bytes, box.start + 4, 4)
  const count = readUint(bytes, box.start + 8, 4)
  const length = 12 + (all === 0 ? count * 4 : 0)
  if (all < 0 || count < 1 || count > MAX_SAMPLES || box.start + length > box.end) return undefined
  const sizeOf = (index: number) => all || readUint(bytes, box.start + 12 + index * 4, 4)
  return { count, sizeOf, content: bytes.subarray(box.start, box.start + length) }
}

// Chunks are runs of samples, and the table of runs says from which chunk on they hold how many (8.7.4 and 8.7.5).
const readChunks = (bytes: Uint8Array, runs: Uint8Array, offsets: Box, sizes: ReturnType<typeof readSampleSizes>) => {
  const width = offsets.type === 'co64' ? 8 : 4
  const table = copyTable(bytes, offsets, width)
  const chunks: Range[] = []
  if (!table || !sizes || table.length < 9) return undefined
  let sample = 0
  let run = 0
  for (let at = 8; at < table.length; at += width) {
    if (readUint(runs, 8 + (run + 1) * 12, 4) === chunks.length + 1) run++
    const start = readUint(table, at, width)
    let end = start
    const last = sample + readUint(runs, 8 + run * 12 + 4, 4)
    if (last <= sample || last > sizes.count) return undefined
    for (; sample < last; sample++) end += sizes.sizeOf(sample)
    chunks.push({ start, end })
  }
  return sample === sizes.count ? chunks : undefined
}

// One kind of sample, AV1, of a size within the limit by either statement of it.
const cleanDescription = (bytes: Uint8Array, box: Box, chunks: Range[]) => {
  const entries = listBoxes(bytes, box.start + 8, box.end) ?? []
  const entry = findBox(entries, 'av01')
  const header = entry && copyFields(readContent(bytes, entry), ENTRY)
  const properties = entry && header && listBoxes(bytes, entry.start + header.length, entry.end)
  const coded = readCodedSize(bytes.subarray(chunks[0]?.start, chunks[0]?.end))
  if (!properties || entries.length !== 1 || !coded || !isAllowedSize(coded.width, coded.height)) return undefined
  if (!isAllowedSize(readUint(header, 24, 2), readUint(header, 26, 2))) return undefined
  const kept = properties.map((property) => cleanProperty(bytes, property)).filter((property) => property !== undefined)
  return writeFullBox('stsd', 0, [writeUint(1, 4), writeBox('av01', [header, ...kept])])
}

/**
 * Reads where the samples of a track are, and writes its tables anew but for the places, which are to change. Undefined
 * when the tables are broken or the samples are not AV1.
 */
export const readSamples = (bytes: Uint8Array, boxes: Box[]) => {
  const [description, sizes, offsets] = ['stsd', 'stsz', 'stco'].map((type) => findBox(boxes, type))
  const place = offsets ?? findBox(boxes, 'co64')
  const copy = (type: string, width: number) => {
    const box = findBox(boxes, type)
    return box && copyTable(bytes, box, width)
  }
  const [times, runs, shifts, keys] = [copy('stts', 8), copy('stsc', 12), copy('ctts', 8), copy('stss', 4)]
  const sampleSizes = sizes && readSampleSizes(bytes, sizes)
  if (!description || !place || !times || !runs || !sampleSizes) return undefined
  const chunks = readChunks(bytes, runs, place, sampleSizes)
  const entry = chunks && cleanDescription(bytes, description, chunks)
  if (!entry) return undefined
  const tables = [entry, writeBox('stts', [times]), writeBox('stsc', [runs]), writeBox('stsz', [sampleSizes.content])]
  if (shifts) tables.push(writeBox('ctts', [shifts]))
  if (keys) tables.push(writeBox('stss', [keys]))
  return { chunks, tables }
}
