import { readUint } from './bytes'

/** Whether a DQT payload is made of whole quantization tables (ITU-T T.81, B.2.4.1). */
export const isQuantization = (payload: Uint8Array) => {
  let at = 0
  while (at < payload.length) {
    const head = payload[at] ?? 0
    if (head >> 4 > 1 || (head & 15) > 3) return false
    at += 1 + (head >> 4 ? 128 : 64)
  }
  return at > 0 && at === payload.length
}

/** Whether a DHT payload is made of whole Huffman tables (B.2.4.2). */
export const isHuffman = (payload: Uint8Array) => {
  let at = 0
  while (at < payload.length) {
    const head = payload[at] ?? 0
    if (head >> 4 > 1 || (head & 15) > 3) return false
    const codes = payload.subarray(at + 1, at + 17).reduce((sum, count) => sum + count, 0)
    if (codes > 256) return false
    at += 17 + codes
  }
  return at > 0 && at === payload.length
}

/** Whether a DAC payload is made of whole conditioning entries (B.2.4.3). */
export const isArithmetic = (payload: Uint8Array) => payload.length > 0 && payload.length % 2 === 0

/** Whether a DRI payload is one interval (B.2.4.4). */
export const isRestart = (payload: Uint8Array) => payload.length === 2

/** Whether an SOS payload lists one to four components (B.2.3). */
export const isScan = (payload: Uint8Array) => {
  const components = payload[0] ?? 0
  return components >= 1 && components <= 4 && payload.length === 4 + 2 * components
}

/** Reads the size a frame header announces; undefined when it is none (B.2.2). */
export const readFrame = (payload: Uint8Array) => {
  const precision = payload[0]
  const components = payload[5] ?? 0
  if (precision !== 8 && precision !== 12) return undefined
  if (components < 1 || components > 4 || payload.length !== 6 + 3 * components) return undefined
  return { width: readUint(payload, 3, 2), height: readUint(payload, 1, 2) }
}
