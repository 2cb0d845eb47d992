import { describe, expect, it } from 'vitest'
import { cleanImage } from '../../src/images/clean/clean-image'
import { join, type Part } from '../support/bytes'
import { jpeg, segment } from '../support/pictures'

const isAccepted = (bytes: Uint8Array<ArrayBuffer>) => cleanImage(bytes) !== undefined
const zeros = (length: number) => Array<number>(length).fill(0)

describe('JPEG tables', () => {
  const [DQT, DHT, DAC, DRI] = [0xdb, 0xc4, 0xcc, 0xdd]
  // The numbers of codes of each length, then a value for each code.
  const huffman = (head: number, counts: number[], values: number) => [
    head,
    ...counts,
    ...zeros(16 - counts.length),
    ...zeros(values),
  ]
  const cases: [isValid: boolean, name: string, marker: number, payload: number[]][] = [
    [true, 'an 8-bit quantization table', DQT, [0x00, ...zeros(64)]],
    [true, 'a 16-bit quantization table', DQT, [0x10, ...zeros(128)]],
    [true, 'quantization tables 3 of both precisions', DQT, [0x03, ...zeros(64), 0x13, ...zeros(128)]],
    [false, 'quantization table 4', DQT, [0x04, ...zeros(64)]],
    [false, 'a quantization table of precision 2', DQT, [0x20, ...zeros(128)]],
    [false, 'no quantization table', DQT, []],
    [false, 'an 8-bit quantization table of 63 bytes', DQT, [0x00, ...zeros(63)]],
    [false, 'a 16-bit quantization table of 127 bytes', DQT, [0x10, ...zeros(127)]],
    [false, 'a byte after a quantization table', DQT, [0x00, ...zeros(65)]],
    [true, 'a Huffman table without codes', DHT, huffman(0x00, [], 0)],
    [true, 'Huffman tables 3 of both classes', DHT, [...huffman(0x03, [0, 1], 1), ...huffman(0x13, [2], 2)]],
    [true, 'a Huffman table of 256 codes', DHT, huffman(0x00, [255, 1], 256)],
    [false, 'a Huffman table of 257 codes', DHT, huffman(0x00, [255, 2], 257)],
    [false, 'Huffman table 4', DHT, huffman(0x04, [], 0)],
    [false, 'a Huffman table of class 2', DHT, huffman(0x20, [], 0)],
    [false, 'no Huffman table', DHT, []],
    [false, 'a Huffman table without its last value', DHT, huffman(0x00, [0, 2], 1)],
    [false, 'a byte after a Huffman table', DHT, huffman(0x00, [0, 2], 3)],
    [true, 'one arithmetic conditioning entry', DAC, zeros(2)],
    [true, 'two arithmetic conditioning entries', DAC, zeros(4)],
    [false, 'no arithmetic conditioning entry', DAC, []],
    [false, 'one and a half arithmetic conditioning entries', DAC, zeros(3)],
    [true, 'a restart interval of 2 bytes', DRI, zeros(2)],
    [false, 'a restart interval of 1 byte', DRI, zeros(1)],
    [false, 'a restart interval of 3 bytes', DRI, zeros(3)],
  ]
  it.each(cases)('%s: %s', (isValid, _, marker, payload) => {
    expect(isAccepted(jpeg({}, 'baseline', segment(marker, payload)))).toBe(isValid)
  })

  const scanOf = (components: number, extra = 0) => segment(0xda, [components], zeros(2 * components + 3 + extra))
  const frameOf = (components: number, precision = 8, extra = 0) =>
    segment(0xc0, [precision, 0, 16, 0, 24, components], zeros(3 * components + extra))
  const fileOf = (frame: Part, scan: Part) => join([0xff, 0xd8], frame, scan, [1, 2, 3, 0xff, 0xd9])

  it.each([1, 2, 3, 4])('accepts frames and scans of %i components', (components) => {
    expect(isAccepted(fileOf(frameOf(components), scanOf(components)))).toBe(true)
    expect(isAccepted(fileOf(frameOf(components, 12), scanOf(components)))).toBe(true)
    for (const extra of [-1, 1]) {
      expect(isAccepted(fileOf(frameOf(components, 8, extra), scanOf(components)))).toBe(false)
      expect(isAccepted(fileOf(frameOf(components), scanOf(components, extra)))).toBe(false)
    }
  })

  it.each([0, 5])('refuses frames and scans of %i components', (components) => {
    expect(isAccepted(fileOf(frameOf(components), scanOf(1)))).toBe(false)
    expect(isAccepted(fileOf(frameOf(1), scanOf(components)))).toBe(false)
  })

  it.each([0, 7, 9, 11, 13, 16])('refuses a precision of %i bits', (precision) => {
    expect(isAccepted(fileOf(frameOf(1, precision), scanOf(1)))).toBe(false)
  })
})
