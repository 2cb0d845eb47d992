/** Reads an unsigned big-endian integer. Beyond the end it is -1, which no size or marker check lets pass. */
export const readUint = (bytes: Uint8Array, at: number, width: number) => {
  if (at < 0 || at + width > bytes.length) return -1
  let value = 0
  for (let index = at; index < at + width; index++) value = value * 256 + (bytes[index] ?? 0)
  return value
}

/** The little-endian twin of readUint. */
export const readUintLittle = (bytes: Uint8Array, at: number, width: number) => {
  if (at < 0 || at + width > bytes.length) return -1
  let value = 0
  for (let index = at + width - 1; index >= at; index--) value = value * 256 + (bytes[index] ?? 0)
  return value
}

/** Reads a text of one byte per character; an empty one beyond the end. */
export const readText = (bytes: Uint8Array, at: number, length: number) => {
  let text = ''
  if (at < 0 || at + length > bytes.length) return text
  for (let index = at; index < at + length; index++) text += String.fromCharCode(bytes[index] ?? 0)
  return text
}

/** Whether the bytes hold this text, one byte per character, at this place. */
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

/** The little-endian twin of writeUint. */
export const writeUintLittle = (value: number, width: number) => writeUint(value, width).reverse()

/** Writes a text of one byte per character. */
export const writeText = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0))

/** Joins parts into one run of bytes. */
export const joinBytes = (parts: Uint8Array[]) => {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

/**
 * An output that parts are copied to one after the other. A list of parts would cost more than the parts themselves
 * on a file of a million tiny chunks, so the room is taken once; the caller knows the most it can need.
 */
export const createOutput = (capacity: number) => {
  const room = new Uint8Array(capacity)
  let length = 0
  return {
    append: (...parts: Uint8Array[]) => {
      for (const part of parts) {
        room.set(part, length)
        length += part.length
      }
    },
    overwrite: (at: number, part: Uint8Array) => room.set(part, at),
    length: () => length,
    finish: () => room.subarray(0, length),
  }
}
