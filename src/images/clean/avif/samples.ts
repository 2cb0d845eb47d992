import { readUint, writeUint } from '../bytes'
import { isAllowedSize } from '../image'
import { readCodedSize } from './av1'
import { type Box, copyFields, findBox, listBoxes, readContent, writeBox, writeFullBox } from './boxes'
import { cleanProperty } from './properties'
import type { Range } from './ranges'

// Half an hour at ten frames per second, far longer than any real animation. All sections here are of ISO/IEC 14496-12.
const MAX_SAMPLES = 20_000

// The fields kept from a sample entry: data reference, size, resolution, frames per sample and depth, but not the
// free-text compressor name (12.1.3).
const ENTRY_FIELDS = [6, 8, 24, 36, 40, 42, 74, 78]

/** Copies a table box without anything after its last entry (8.6 and 8.7). */
export const copyTable = (bytes: Uint8Array, box: Box, width: number) => {
  const length = 8 + readUint(bytes, box.start + 4, 4) * width
  return length < 8 || box.start + length > box.end ? undefined : bytes.subarray(box.start, box.start + length)
}

// Either one size for all samples or a table of sizes (8.7.3).
const readSampleSizes = (bytes: Uint8Array, box: Box) => {
  const all = readUint(bytes, box.start + 4, 4)
  const count = readUint(bytes, box.start + 8, 4)
  const length = 12 + (all === 0 ? count * 4 : 0)
  if (all < 0 || count < 1 || count > MAX_SAMPLES || box.start + length > box.end) return undefined
  const sizeOf = (index: number) => all || readUint(bytes, box.start + 12 + index * 4, 4)
  return { count, sizeOf, content: bytes.subarray(box.start, box.start + length) }
}

// A chunk is a run of samples. An stsc entry gives the samples per chunk from its first chunk on (8.7.4 and 8.7.5).
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

// Requires a single AV1 sample entry whose stated and coded sizes are both within the limit.
const cleanDescription = (bytes: Uint8Array, box: Box, chunks: Range[]) => {
  const entries = listBoxes(bytes, box.start + 8, box.end) ?? []
  const entry = findBox(entries, 'av01')
  const header = entry && copyFields(readContent(bytes, entry), ENTRY_FIELDS)
  const properties = entry && header && listBoxes(bytes, entry.start + header.length, entry.end)
  const coded = readCodedSize(bytes.subarray(chunks[0]?.start, chunks[0]?.end))
  if (!properties || entries.length !== 1 || !coded || !isAllowedSize(coded.width, coded.height)) return undefined
  if (!isAllowedSize(readUint(header, 24, 2), readUint(header, 26, 2))) return undefined
  const kept = properties.map((property) => cleanProperty(bytes, property)).filter((property) => property !== undefined)
  return writeFullBox('stsd', 0, [writeUint(1, 4), writeBox('av01', [header, ...kept])])
}

/**
 * Finds the samples of a track and rewrites its sample tables, except the chunk offsets, which change later.
 * @returns undefined if the tables are corrupt or the samples are not AV1
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
