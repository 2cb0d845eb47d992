import { joinBytes, readText, readUint, writeText, writeUint } from './bytes'

/** A box of an ISO base media file: its type, and where its content starts and ends. */
export type Box = { type: string; start: number; end: number }

/** The most boxes that are read side by side, as many as libheif does. Real files have a few dozen. */
export const MAX_BOXES = 20_000

/** Reads the box at a place, its content within the given end; undefined when it is none (ISO/IEC 14496-12, 4.2). */
export const readBox = (bytes: Uint8Array, at: number, to: number): Box | undefined => {
  const short = at + 8 <= to ? readUint(bytes, at, 4) : -1
  const size = short === 1 && at + 16 <= to ? readUint(bytes, at + 8, 8) : short
  const start = at + (short === 1 ? 16 : 8)
  // A size of zero runs to the end of the file, so only the last box at the top may have it.
  const end = short === 0 && to === bytes.length ? to : at + size
  return end < start || end > to ? undefined : { type: readText(bytes, at + 4, 4), start, end }
}

/** Lists the boxes that fill a range; undefined when they do not fill it exactly, or are too many. */
export const listBoxes = (bytes: Uint8Array, from: number, to: number): Box[] | undefined => {
  const boxes: Box[] = []
  for (let at = from; at < to; ) {
    const box = readBox(bytes, at, to)
    if (!box || boxes.length === MAX_BOXES) return undefined
    boxes.push(box)
    at = box.end
  }
  return boxes
}

/** Finds the one box of a type; undefined when there is none, or more than one. */
export const findBox = (boxes: Box[], type: string) => {
  const found = boxes.filter((box) => box.type === type)
  return found.length === 1 ? found[0] : undefined
}

/** The content of a box. */
export const readContent = (bytes: Uint8Array, box: Box) => bytes.subarray(box.start, box.end)

/** Writes a box. Its parts are a list, since there may be more of them than a call has room for. */
export const writeBox = (type: string, parts: Uint8Array[]) => {
  const length = parts.reduce((sum, part) => sum + part.length, 8)
  return joinBytes([writeUint(length, 4), writeText(type), ...parts])
}

/** Writes a box with a version and no flags set (ISO/IEC 14496-12, 4.2.2). */
export const writeFullBox = (type: string, version: number, parts: Uint8Array[]) =>
  writeBox(type, [writeUint(version, 1), writeUint(0, 3), ...parts])

/** Writes a handler box, which says what its parent is about, without a name (ISO/IEC 14496-12, 8.4.3). */
export const writeHandler = (type: string) =>
  writeFullBox('hdlr', 0, [new Uint8Array(4), writeText(type), new Uint8Array(12 + 1)])

/**
 * Copies what is kept of a content: from and to, from and to, and so on, with zeros between. It ends where the last of
 * them does; undefined when the content ends before.
 */
export const copyFields = (content: Uint8Array, bounds: number[]) => {
  const length = bounds.at(-1) ?? 0
  if (content.length < length) return undefined
  const copy = new Uint8Array(length)
  for (let index = 0; index < bounds.length; index += 2) {
    const from = bounds[index] ?? 0
    copy.set(content.subarray(from, bounds[index + 1]), from)
  }
  return copy
}
