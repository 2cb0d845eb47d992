import { joinBytes, readText, readUint, writeText, writeUint } from '../bytes'
import { type CountParts, listChunks } from '../image'

/** A box of an ISO base media file. `start` and `end` are those of its content. */
export type Box = { type: string; start: number; end: number }

/** Reads the box at an offset; undefined if it is invalid or does not end by `to` (ISO/IEC 14496-12, 4.2). */
export const readBox = (bytes: Uint8Array, at: number, to: number): Box | undefined => {
  const short = at + 8 <= to ? readUint(bytes, at, 4) : -1
  const size = short === 1 && at + 16 <= to ? readUint(bytes, at + 8, 8) : short
  const start = at + (short === 1 ? 16 : 8)
  // Size 0 means up to the end of the file, so only the last box may have it.
  const end = short === 0 && to === bytes.length ? to : at + size
  return end < start || end > to ? undefined : { type: readText(bytes, at + 4, 4), start, end }
}

/** Lists the boxes in a range; undefined if they do not fill it exactly. */
export const listBoxes = (bytes: Uint8Array, from: number, to: number, countParts: CountParts) => {
  const isLast = ({ end }: Box) => end === to
  const boxes = listChunks((at) => readBox(bytes, at, to), from, countParts, isLast)
  return (boxes.at(-1)?.end ?? from) >= to ? boxes : undefined
}

/** Finds the only box of a type; undefined if there is none or more than one. */
export const findBox = (boxes: Box[], type: string) => {
  const found = boxes.filter((box) => box.type === type)
  return found.length === 1 ? found[0] : undefined
}

export const readContent = (bytes: Uint8Array, box: Box) => bytes.subarray(box.start, box.end)

/** Writes a box. Takes an array because there may be more parts than a call can have arguments. */
export const writeBox = (type: string, parts: Uint8Array[]) => {
  const length = parts.reduce((sum, part) => sum + part.length, 8)
  return joinBytes([writeUint(length, 4), writeText(type), ...parts])
}

/** Writes a box with a version and zero flags (ISO/IEC 14496-12, 4.2.2). */
export const writeFullBox = (type: string, version: number, parts: Uint8Array[]) =>
  writeBox(type, [writeUint(version, 1), writeUint(0, 3), ...parts])
