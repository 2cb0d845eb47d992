const TABLE = Int32Array.from({ length: 256 }, (_, index) => {
  let value = index
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
  return value
})

/** Computes the CRC-32 of zlib, PNG chunks (PNG, 5.5) and access tokens. */
export const computeCrc = (bytes: Uint8Array, from = 0, to = bytes.length) => {
  let crc = -1
  for (let index = from; index < to; index++) {
    crc = (TABLE[(crc ^ (bytes[index] ?? 0)) & 255] ?? 0) ^ (crc >>> 8)
  }
  return (crc ^ -1) >>> 0
}
