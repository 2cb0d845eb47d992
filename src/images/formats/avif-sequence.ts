import { copyTable, readSamples } from './avif-samples'
import { type Box, copyFields, findBox, listBoxes, readContent, writeBox, writeFullBox, writeHandler } from './boxes'
import { readText, readUint, writeUint } from './bytes'
import { isAllowedSize } from './picture'
import type { Range } from './ranges'

/** The tracks of an animation: where their samples are, and how to write the box that describes them. */
export type Sequence = { chunks: Range[]; write: (move: (at: number) => number) => Uint8Array }

type Track = Sequence & { handler: string }

const MAX_TRACKS = 8

// What is kept of headers, by version: all but times of creation and what is reserved (ISO/IEC 14496-12, 8.2.2, 8.3.2
// and 8.4.2, as are all sections here).
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

// How often an animation runs is an edit of its track (8.6.6; AVIF, 3).
const cleanEdits = (bytes: Uint8Array, box: Box | undefined) => {
  const list = box && findBox(listBoxes(bytes, box.start, box.end) ?? [], 'elst')
  const table = list && copyTable(bytes, list, bytes[list.start] === 0 ? 12 : 20)
  return table ? [writeBox('edts', [writeBox('elst', [table])])] : []
}

// A transparency names the track it is for, as does one its colours are multiplied with (8.3.3; MIAF, 7.3.5).
const cleanReferences = (bytes: Uint8Array, boxes: Box[]) => {
  const known = boxes.filter(({ type, start, end }) => ['auxl', 'prem'].includes(type) && end >= start + 4)
  const written = known.map(({ type, start }) => writeBox(type, [bytes.subarray(start, start + 4)]))
  return written.length > 0 ? [writeBox('tref', written)] : []
}

const writeMedia = (handler: string, header: Uint8Array, tables: Uint8Array[]) => {
  // The data is in this very file, which is what the flag of an address says (8.7.2).
  const address = writeBox('url ', [Uint8Array.of(0, 0, 0, 1)])
  const information = writeBox('dinf', [writeFullBox('dref', 0, [writeUint(1, 4), address])])
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
  // The size ends a header; its lower halves are fractions (8.3.2).
  const [width, height] = [readUint(header, header.length - 8, 2), readUint(header, header.length - 4, 2)]
  if (!isAllowedSize(width, height)) return undefined
  const type = readText(bytes, handler.start + 8, 4)
  const edits = cleanEdits(bytes, findBox(boxes, 'edts'))
  const references = cleanReferences(bytes, listIn(findBox(boxes, 'tref')))
  return {
    handler: type,
    chunks: samples.chunks,
    write: (move) => {
      const offsets = samples.chunks.map(({ start }) => writeUint(move(start), 4))
      const tables = [...samples.tables, writeFullBox('stco', 0, [writeUint(offsets.length, 4), ...offsets])]
      return writeBox('trak', [writeBox('tkhd', [header]), ...references, ...edits, writeMedia(type, timing, tables)])
    },
  }
}

/**
 * Reads the animation of a file: the first track of pictures, and the first of transparency. Others (sound, texts,
 * times of metadata) are left out. Undefined when there is none that is whole.
 */
export const readSequence = (bytes: Uint8Array, movie: Box): Sequence | undefined => {
  const boxes = listBoxes(bytes, movie.start, movie.end) ?? []
  const header = copyHeader(bytes, boxes, 'mvhd')
  const kinds = new Map<string, Track>()
  for (const box of boxes.filter(({ type }) => type === 'trak').slice(0, MAX_TRACKS)) {
    const track = readTrack(bytes, box)
    if (track && !kinds.has(track.handler)) kinds.set(track.handler, track)
  }
  const pictures = kinds.get('pict')
  const alpha = kinds.get('auxv')
  if (!header || !pictures) return undefined
  const tracks = alpha ? [pictures, alpha] : [pictures]
  return {
    chunks: tracks.flatMap(({ chunks }) => chunks),
    write: (move) => writeBox('moov', [writeBox('mvhd', [header]), ...tracks.map((track) => track.write(move))]),
  }
}
