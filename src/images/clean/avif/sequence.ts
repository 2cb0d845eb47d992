import { readText, readUint, writeUint } from '../bytes'
import { isAllowedSize } from '../image'
import { type Box, copyFields, findBox, listBoxes, readContent, writeBox, writeFullBox, writeHandler } from './boxes'
import type { Range, Relocate } from './ranges'
import { copyTable, readSamples } from './samples'

/** The tracks of an animation: where their samples are, and a function that writes the moov box. */
type Sequence = { chunks: Range[]; write: (relocate: Relocate) => Uint8Array }

type Track = Sequence & { handler: string }

const MAX_TRACKS = 8

// The fields kept from headers of version 0 and 1: all but the creation and modification times and reserved fields
// (ISO/IEC 14496-12, 8.2.2, 8.3.2 and 8.4.2, as all sections here).
const FIELDS = {
  mvhd: [
    [0, 4, 12, 26, 36, 72, 96, 100],
    [0, 4, 20, 38, 48, 84, 108, 112],
  ],
  tkhd: [
    [0, 4, 12, 16, 20, 24, 32, 38, 40, 84],
    [0, 4, 20, 24, 28, 36, 44, 50, 52, 96],
  ],
  mdhd: [
    [0, 4, 12, 22, 24, 24],
    [0, 4, 20, 34, 36, 36],
  ],
}

const copyHeader = (bytes: Uint8Array, boxes: Box[], type: keyof typeof FIELDS) => {
  const box = findBox(boxes, type)
  const fields = box && FIELDS[type][bytes[box.start] ?? 0]
  return fields && copyFields(readContent(bytes, box), fields)
}

// The edit list determines how often an animation repeats (8.6.6; AVIF, 3).
const cleanEdits = (bytes: Uint8Array, box: Box | undefined) => {
  const list = box && findBox(listBoxes(bytes, box.start, box.end) ?? [], 'elst')
  const table = list && copyTable(bytes, list, bytes[list.start] === 0 ? 12 : 20)
  return table ? [writeBox('edts', [writeBox('elst', [table])])] : []
}

// An alpha track refers to its image track, which refers back if it is premultiplied (8.3.3; MIAF, 7.3.5).
const cleanReferences = (bytes: Uint8Array, boxes: Box[]) => {
  const known = boxes.filter(({ type, start, end }) => ['auxl', 'prem'].includes(type) && end >= start + 4)
  const written = known.map(({ type, start }) => writeBox(type, [bytes.subarray(start, start + 4)]))
  return written.length > 0 ? [writeBox('tref', written)] : []
}

const writeMedia = (handler: string, header: Uint8Array, tables: Uint8Array[]) => {
  // Flag 1 means that the data is in this file (8.7.2).
  const location = writeBox('url ', [Uint8Array.of(0, 0, 0, 1)])
  const information = writeBox('dinf', [writeFullBox('dref', 0, [writeUint(1, 4), location])])
  const video = writeBox('vmhd', [Uint8Array.of(0, 0, 0, 1), new Uint8Array(8)])
  const media = writeBox('minf', [video, information, writeBox('stbl', tables)])
  return writeBox('mdia', [writeBox('mdhd', [header]), writeHandler(handler), media])
}

const readTrack = (bytes: Uint8Array, box: Box): Track | undefined => {
  const listIn = (parent: Box | undefined) => (parent && listBoxes(bytes, parent.start, parent.end)) ?? []
  const boxes = listIn(box)
  const media = listIn(findBox(boxes, 'mdia'))
  const header = copyHeader(bytes, boxes, 'tkhd')
  const timing = copyHeader(bytes, media, 'mdhd')
  const handler = findBox(media, 'hdlr')
  const samples = readSamples(bytes, listIn(findBox(listIn(findBox(media, 'minf')), 'stbl')))
  if (!header || !timing || !handler || !samples) return undefined
  // The header ends with the size, as 16.16 fixed-point numbers (8.3.2).
  const [width, height] = [readUint(header, header.length - 8, 2), readUint(header, header.length - 4, 2)]
  if (!isAllowedSize(width, height)) return undefined
  const type = readText(bytes, handler.start + 8, 4)
  const edits = cleanEdits(bytes, findBox(boxes, 'edts'))
  const references = cleanReferences(bytes, listIn(findBox(boxes, 'tref')))
  return {
    handler: type,
    chunks: samples.chunks,
    write: (relocate) => {
      const offsets = samples.chunks.map(({ start }) => writeUint(relocate(start), 4))
      const tables = [...samples.tables, writeFullBox('stco', 0, [writeUint(offsets.length, 4), ...offsets])]
      return writeBox('trak', [writeBox('tkhd', [header]), ...references, ...edits, writeMedia(type, timing, tables)])
    },
  }
}

/**
 * Reads an animation: the first valid image track and the first valid alpha track. Drops other tracks, such as sound,
 * text and timed metadata.
 * @returns undefined if there is no valid image track
 */
export const readSequence = (bytes: Uint8Array, movie: Box): Sequence | undefined => {
  const boxes = listBoxes(bytes, movie.start, movie.end) ?? []
  const header = copyHeader(bytes, boxes, 'mvhd')
  const kinds = new Map<string, Track>()
  for (const box of boxes.filter(({ type }) => type === 'trak').slice(0, MAX_TRACKS)) {
    const track = readTrack(bytes, box)
    if (track && !kinds.has(track.handler)) kinds.set(track.handler, track)
  }
  const images = kinds.get('pict')
  const alpha = kinds.get('auxv')
  if (!header || !images) return undefined
  const tracks = alpha ? [images, alpha] : [images]
  return {
    chunks: tracks.flatMap(({ chunks }) => chunks),
    write: (relocate) =>
      writeBox('moov', [writeBox('mvhd', [header]), ...tracks.map((track) => track.write(relocate))]),
  }
}
