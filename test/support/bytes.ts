/** Bytes, or text of one byte per character. */
export type Part = Uint8Array | number[] | string

export const join = (...parts: Part[]): Uint8Array<ArrayBuffer> => {
  const runs = parts.map((part) =>
    typeof part === 'string' ? Uint8Array.from(part, (character) => character.charCodeAt(0)) : Uint8Array.from(part),
  )
  const joined = new Uint8Array(runs.reduce((sum, run) => sum + run.length, 0))
  let at = 0
  for (const run of runs) {
    joined.set(run, at)
    at += run.length
  }
  return joined
}

/** An unsigned big-endian integer. */
export const big = (value: number, width: number) =>
  Array.from({ length: width }, (_, index) => Math.floor(value / 256 ** (width - 1 - index)) % 256)

/** An unsigned little-endian integer. */
export const little = (value: number, width: number) => big(value, width).reverse()

export const fromBase64 = (text: string) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0))

/** Decodes one character per byte. */
export const toText = (bytes: Uint8Array) => {
  let text = ''
  for (let at = 0; at < bytes.length; at += 4096) text += String.fromCharCode(...bytes.subarray(at, at + 4096))
  return text
}

/** The checksum of a PNG chunk, computed independently of src. */
export const crc32 = (bytes: Uint8Array) => {
  let crc = -1
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return ~crc >>> 0
}

/** A zlib stream without compression, so that text in it stays searchable. */
export const store = (...parts: Part[]) => {
  const content = join(...parts)
  let [low, high] = [1, 0]
  for (const byte of content) {
    low = (low + byte) % 65521
    high = (high + low) % 65521
  }
  const { length } = content
  return join([0x78, 0x01, 1], little(length, 2), little(0xffff - length, 2), content, big(high * 65536 + low, 4))
}
