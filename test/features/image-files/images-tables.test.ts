import { describe, expect, it } from 'vitest'
import { join, type Part, zeros } from '../../support/bytes'
import { tryClean } from '../../support/images/image-structure'
import { jpeg, segment } from '../../support/images/pictures'

const isAccepted = (bytes: Uint8Array<ArrayBuffer>) => typeof tryClean(bytes) === 'object'

describe('JPEG tables', () => {
  const dqt = (...tables: [head: number, size: number][]) =>
    segment(0xdb, ...tables.map(([head, size]) => [head, ...zeros(size)]))
  // The numbers of codes of each length, then a value for each code.
  const dht = (...tables: [head: number, counts: number[], values: number][]) =>
    segment(0xc4, ...tables.map(([head, counts, values]) => [head, ...counts, ...zeros(16 - counts.length + values)]))
  const dac = (size: number) => segment(0xcc, zeros(size))
  const dri = (size: number) => segment(0xdd, zeros(size))
  const isValid = (extra: Part) => isAccepted(jpeg({ extra }))

  it.each<[title: string, accepted: Part[], refused: Part[]]>([
    ['need 64 values of 8 bits for quantization', [dqt([0x00, 64])], [dqt(), dqt([0x00, 63]), dqt([0x00, 65])]],
    ['need 64 values of 16 bits for quantization', [dqt([0x10, 128])], [dqt([0x10, 127])]],
    ['may have quantization numbers 0 to 3', [dqt([0x03, 64])], [dqt([0x04, 64])]],
    ['may have quantization precisions 0 and 1', [dqt([0x03, 64], [0x13, 128])], [dqt([0x20, 128])]],
    ['need a Huffman table, with or without codes', [dht([0x00, [], 0])], [dht()]],
    ['may have Huffman numbers 0 to 3', [dht([0x03, [], 0])], [dht([0x04, [], 0])]],
    ['may have Huffman classes 0 and 1', [dht([0x03, [0, 1], 1], [0x13, [2], 2])], [dht([0x20, [], 0])]],
    ['may have up to 256 Huffman codes', [dht([0x00, [255, 1], 256])], [dht([0x00, [255, 2], 257])]],
    ['need one value per Huffman code', [dht([0x00, [0, 2], 2])], [dht([0x00, [0, 2], 1]), dht([0x00, [0, 2], 3])]],
    ['need arithmetic conditioning entries of 2 bytes', [dac(2), dac(4)], [dac(0), dac(3)]],
    ['need a restart interval of 2 bytes', [dri(2)], [dri(1), dri(3)]],
  ])('%s', (_, accepted, refused) => {
    expect(accepted.map(isValid)).not.toContain(false)
    expect(refused.map(isValid)).not.toContain(true)
  })

  const scanOf = (components: number, extra = 0) => segment(0xda, [components], zeros(2 * components + 3 + extra))
  const frameOf = (components: number, precision = 8, extra = 0) =>
    segment(0xc0, [precision, 0, 16, 0, 24, components], zeros(3 * components + extra))
  const accepts = (frame: Part, scan: Part) => isAccepted(join([0xff, 0xd8], frame, scan, [1, 2, 3, 0xff, 0xd9]))

  it.each([1, 2, 3, 4])('accepts frames and scans of %i components', (components) => {
    expect(accepts(frameOf(components), scanOf(components))).toBe(true)
    expect(accepts(frameOf(components, 12), scanOf(components))).toBe(true)
    for (const extra of [-1, 1]) {
      expect(accepts(frameOf(components, 8, extra), scanOf(components))).toBe(false)
      expect(accepts(frameOf(components), scanOf(components, extra))).toBe(false)
    }
  })

  it.each([0, 5])('refuses frames and scans of %i components', (components) => {
    expect(accepts(frameOf(components), scanOf(1))).toBe(false)
    expect(accepts(frameOf(1), scanOf(components))).toBe(false)
  })

  it.each([0, 7, 9, 11, 13, 16])('refuses a precision of %i bits', (precision) => {
    expect(accepts(frameOf(1, precision), scanOf(1))).toBe(false)
  })
})
