/** Reads an unsigned integer, big-endian unless `isLittle`. Past the end -1, which fails every check. */
export const readUint = (bytes: Uint8Array, at: number, width: number, isLittle = false) => {
  if (at < 0 || at + width > bytes.length) return -1
  const [first, step] = isLittle ? [at + width - 1, -1] : [at, 1]
  let value = 0
  for (let index = 0; index < width; index++) value = value * 256 + (bytes[first + step * index] ?? 0)
  return value
}

/** The little-endian version of readUint. */
export const readUintLittle = (bytes: Uint8Array, at: number, width: number) => readUint(bytes, at, width, true)

/** Reads text of one byte per character; empty past the end. */
export const readText = (bytes: Uint8Array, at: number, length: number) =>
  at < 0 || at + length > bytes.length ? '' : String.fromCharCode(...bytes.subarray(at, at + length))

/** Whether the bytes contain this text, one byte per character, at this offset. */
export const hasText = (bytes: Uint8Array, at: number, text: string) => {
  for (let index = 0; index < text.length; index++) if (bytes[at + index] !== text.charCodeAt(index)) return false
  return true
}

/** Writes an unsigned big-endian integer. */
export const writeUint = (value: number, width: number) => {
  const bytes = new Uint8Array(width)
  for (let index = width - 1, rest = value; index >= 0; index--, rest = Math.floor(rest / 256))
    bytes[index] = rest % 256
  return bytes
}

/** The little-endian version of writeUint. */
export const writeUintLittle = (value: number, width: number) => writeUint(value, width).reverse()

/** Writes text of one byte per character. */
export const writeText = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0))

/** An append-only buffer of `capacity` bytes. An array of many tiny parts would take more than their bytes do. */
export const createOutput = (capacity: number) => {
  const buffer = new Uint8Array(capacity)
  let length = 0
  return {
    append: (...parts: Uint8Array[]) => {
      for (const part of parts) {
        buffer.set(part, length)
        length += part.length
      }
    },
    overwrite: (at: number, part: Uint8Array) => buffer.set(part, at),
    length: () => length,
    finish: () => buffer.subarray(0, length),
  }
}

export const joinBytes = (parts: Uint8Array[]) => {
  const joined = createOutput(parts.reduce((sum, part) => sum + part.length, 0))
  for (const part of parts) joined.append(part)
  return joined.finish()
}
