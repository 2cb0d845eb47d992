import { Buffer } from 'node:buffer'
import { deflateSync } from 'node:zlib'

/** Bytes, or text of one byte per character. */
export type Part = Uint8Array | number[] | string
export type OptionalPart = Part | false | undefined

const toBytes = (part: OptionalPart) =>
  typeof part === 'string' ? Buffer.from(part, 'latin1') : new Uint8Array(part || [])

export const join = (...parts: OptionalPart[]) => new Uint8Array(Buffer.concat(parts.map(toBytes)))

/** An unsigned big-endian integer. */
export const big = (value: number, width: number) =>
  Array.from({ length: width }, (_, index) => Math.floor(value / 256 ** (width - 1 - index)) % 256)

/** An unsigned little-endian integer. */
export const little = (value: number, width: number) => big(value, width).reverse()

/** Unsigned big-endian integers of 2 bytes. */
export const u16 = (...values: number[]) => values.flatMap((value) => big(value, 2))

/** Unsigned big-endian integers of 4 bytes. */
export const u32 = (...values: number[]) => values.flatMap((value) => big(value, 4))

export const zeros = (length: number) => Array<number>(length).fill(0)

export const repeat = (count: number, part: Part) => {
  const bytes = toBytes(part)
  return new Uint8Array(Buffer.alloc(count * bytes.length, bytes))
}

/** Decodes one character per byte. */
export const toText = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1')

/** A zlib stream without compression, so that text in it stays searchable. */
export const store = (content: Part) => new Uint8Array(deflateSync(join(content), { level: 0 }))
