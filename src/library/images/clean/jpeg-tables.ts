import { readUint } from './bytes'

// Each table starts with a byte: its precision or class, 0 or 1, and its destination, 0 to 3.
const areTables = (payload: Uint8Array, measureTable: (start: number, kind: number) => number) => {
  let at = 0
  while (at < payload.length) {
    const head = payload[at] ?? 0
    if (head >> 4 > 1 || (head & 15) > 3) return false
    at += 1 + measureTable(at + 1, head >> 4)
  }
  return at > 0 && at === payload.length
}

/** Whether a DQT payload consists of complete quantization tables (ITU-T T.81, B.2.4.1). */
export const areQuantizationTables = (payload: Uint8Array) =>
  areTables(payload, (_, precision) => (precision === 0 ? 64 : 128))

/** Whether a DHT payload consists of complete Huffman tables of at most 256 codes (B.2.4.2). */
export const areHuffmanTables = (payload: Uint8Array) =>
  areTables(payload, (start) => {
    let codes = 0
    for (let at = start; at < start + 16; at++) codes += payload[at] ?? 0
    return codes > 256 ? Number.POSITIVE_INFINITY : 16 + codes
  })

/** Whether a DAC payload consists of complete conditioning entries (B.2.4.3). */
export const isArithmeticConditioning = (payload: Uint8Array) => payload.length > 0 && payload.length % 2 === 0

/** Whether a DRI payload is a restart interval (B.2.4.4). */
export const isRestartInterval = (payload: Uint8Array) => payload.length === 2

/** Whether an SOS payload lists one to four components (B.2.3). */
export const isScanHeader = (payload: Uint8Array) => {
  const components = payload[0] ?? 0
  return components >= 1 && components <= 4 && payload.length === 4 + 2 * components
}

/** Reads the size from a frame header; undefined if the header is invalid (B.2.2). */
export const readFrameSize = (payload: Uint8Array) => {
  const precision = payload[0]
  const components = payload[5] ?? 0
  if (precision !== 8 && precision !== 12) return undefined
  if (components < 1 || components > 4 || payload.length !== 6 + 3 * components) return undefined
  return { width: readUint(payload, 3, 2), height: readUint(payload, 1, 2) }
}
