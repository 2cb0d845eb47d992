import { join, toText } from './bytes'

const at16 = (bytes: Uint8Array, at: number) => (bytes[at] ?? 0) * 256 + (bytes[at + 1] ?? 0)
const at32 = (bytes: Uint8Array, at: number) => at16(bytes, at) * 65536 + at16(bytes, at + 2)
const text = (bytes: Uint8Array, at: number, length = 4) => toText(bytes.subarray(at, at + length))

/** The hexadecimal markers of a JPEG up to its first scan. */
export const listMarkers = (bytes: Uint8Array) => {
  const markers: string[] = []
  for (let at = 2; at < bytes.length; at += 2 + at16(bytes, at + 2)) {
    const marker = (bytes[at + 1] ?? 0).toString(16)
    markers.push(marker)
    if (marker === 'da') break
  }
  return markers
}

/** The chunk types of a PNG. */
export const listChunks = (bytes: Uint8Array) => {
  const types: string[] = []
  for (let at = 8; at < bytes.length; at += 12 + at32(bytes, at)) types.push(text(bytes, at + 4))
  return types
}

/** The chunk types of a WebP, including those inside frames. */
export const listRiffChunks = (bytes: Uint8Array, from = 12, to = bytes.length): string[] => {
  const types: string[] = []
  for (let at = from; at < to; ) {
    const size = at32(Uint8Array.from(bytes.subarray(at + 4, at + 8)).reverse(), 0)
    const type = text(bytes, at)
    types.push(type, ...(type === 'ANMF' ? listRiffChunks(bytes, at + 24, at + 8 + size) : []))
    at += 8 + size + (size % 2)
  }
  return types
}

// Container boxes, with the bytes before their first child.
const PARENTS = new Map([
  ['meta', 4],
  ['iinf', 6],
  ['iref', 4],
  ['iprp', 0],
  ['ipco', 0],
  ['moov', 0],
  ['trak', 0],
  ['mdia', 0],
  ['minf', 0],
  ['stbl', 0],
  ['stsd', 8],
])

/** The paths of all boxes of an AVIF, as 'meta/iinf/infe:av01'. */
export const listBoxTypes = (bytes: Uint8Array, from = 0, to = bytes.length, parent = ''): string[] => {
  const types: string[] = []
  for (let at = from; at < to; at += at32(bytes, at)) {
    const type = text(bytes, at + 4)
    const path = `${parent}${type}${type === 'infe' ? `:${text(bytes, at + 16)}` : ''}`
    const skip = PARENTS.get(type)
    types.push(
      path,
      ...(skip === undefined ? [] : listBoxTypes(bytes, at + 8 + skip, at + at32(bytes, at), `${path}/`)),
    )
  }
  return types
}

/** Counts the occurrences of some bytes in others. */
export const count = (bytes: Uint8Array, ...parts: Parameters<typeof join>) => {
  const wanted = toText(join(...parts))
  return toText(bytes).split(wanted).length - 1
}
