import { describe, expect, it } from 'vitest'
import { alpha, colour, tile } from '../support/avif-boxes'
import { big, join, store, toText } from '../support/bytes'
import { clean, orientationBlock } from '../support/clean'
import { count, listBoxTypes, listChunks, listMarkers, listRiffChunks } from '../support/image-structure'
import {
  animatedPng,
  animatedWebp,
  avif,
  blocks,
  chunk,
  EVERYTHING,
  gif,
  gifFrame,
  gifScreen,
  jpeg,
  PROFILE,
  png,
  webp,
  webpData,
} from '../support/pictures'

describe('a cleaned image', () => {
  it('keeps the required JPEG segments in their usual order', () => {
    const base = listMarkers(jpeg()).filter((marker) => !marker.startsWith('e'))
    expect(listMarkers(clean(jpeg(EVERYTHING)))).toEqual(['e0', 'e1', 'e2', 'ee', ...base])
    expect(listMarkers(clean(jpeg()))).toEqual(['e0', 'ee', ...base])
  })

  it('keeps JPEG scans unchanged', () => {
    const bytes = jpeg({}, 'progressive')
    const scans = bytes.subarray(bytes.findIndex((byte, at) => byte === 0xff && bytes[at + 1] === 0xc2))
    expect(count(clean(jpeg(EVERYTHING, 'progressive')), scans)).toBe(1)
  })

  it('removes the JFIF thumbnail', () => {
    expect(clean(jpeg()).subarray(2, 20)).toEqual(join([0xff, 0xe0, 0, 16], 'JFIF\0', [1, 2, 1, 0, 72, 0, 72, 0, 0]))
  })

  it('keeps only the colour transform of the Adobe segment', () => {
    expect(count(clean(jpeg()), [0xff, 0xee, 0, 14], 'Adobe', [0, 100, 0, 0, 0, 0, 1])).toBe(1)
  })

  it('keeps the required PNG chunks, with Exif before the image data', () => {
    const types = ['IHDR', 'iCCP', 'pHYs', 'eXIf', 'IDAT', 'IDAT', 'IEND']
    expect(listChunks(clean(png(EVERYTHING)))).toEqual(types)
    expect(listChunks(clean(png(EVERYTHING, 'after')))).toEqual(types)
  })

  it('keeps the frames of an animated PNG', () => {
    const types = ['IHDR', 'acTL', 'fcTL', 'eXIf', 'IDAT', 'fcTL', 'fdAT', 'IEND']
    expect(listChunks(clean(animatedPng(EVERYTHING)))).toEqual(types)
  })

  it('ignores an orientation after the end of a PNG', () => {
    expect(clean(png({ trailing: chunk('eXIf', orientationBlock(6)) }))).toEqual(png())
  })

  it('keeps one loop count of a GIF', () => {
    const loop = join([0x21, 0xff, 11], 'NETSCAPE2.0', blocks([1, 7, 0]))
    const bytes = clean(gif({}, loop, loop))
    expect(count(bytes, 'NETSCAPE2.0')).toBe(1)
    expect(count(bytes, loop)).toBe(1)
  })

  it('keeps the graphic control of a GIF frame, but not that of a removed text', () => {
    const control = (delay: number) => [0x21, 0xf9, 4, 0, delay, 0, 0, 0]
    const text = join([0x21, 0x01], blocks('text'))
    const note = join([0x21, 0xfe], blocks('note'))
    const [head, frame] = [gifScreen(4, 4), gifFrame(4, 4)]
    const whole = join(head, control(1), text, frame, control(2), note, frame, [0x3b])
    expect(clean(whole)).toEqual(join(head, frame, control(2), frame, [0x3b]))
  })

  it('keeps the required WebP chunks and sets their flags', () => {
    const bytes = clean(webp(EVERYTHING, 'alpha'))
    expect(listRiffChunks(bytes)).toEqual(['VP8X', 'ICCP', 'ALPH', 'VP8 ', 'EXIF'])
    expect(bytes[20]).toBe(0x20 + 0x10 + 0x08)
    expect(clean(webp({ xmp: true }))[20]).toBe(0x10)
    expect(count(bytes, webpData('alpha'))).toBe(1)
  })

  it('keeps the frames of an animated WebP', () => {
    const types = ['VP8X', 'ANIM', 'ANMF', 'VP8 ', 'ANMF', 'VP8L', 'EXIF']
    expect(listRiffChunks(clean(animatedWebp(EVERYTHING)))).toEqual(types)
  })

  it('drops an invalid colour profile', () => {
    const bytes = webp({ profile: true })
    const at = toText(bytes).indexOf('acsp')
    bytes.set(join('none'), at)
    expect(listRiffChunks(clean(bytes))).toEqual(['VP8X', 'VP8 '])
    expect(clean(bytes)[20]).toBe(0x10)
  })

  it('replaces the name of a PNG colour profile', () => {
    expect(count(clean(png({ profile: true })), 'iCCPicc\0\0', store(PROFILE))).toBe(1)
  })
})

describe('a cleaned AVIF', () => {
  const listItems = (bytes: Uint8Array) => listBoxTypes(bytes).filter((path) => path.startsWith('meta/iinf/'))
  const items = (...types: string[]) => types.map((type) => `meta/iinf/infe:${type}`)

  it('has its tables and data, and no items but images', () => {
    const bytes = clean(avif(EVERYTHING))
    const properties = ['ispe', 'av1C', 'pixi', 'colr', 'colr'].map((type) => `meta/iprp/ipco/${type}`)
    const tables = ['hdlr', 'pitm', 'iloc', 'iinf'].map((type) => `meta/${type}`)
    const entries = ['meta/iprp', 'meta/iprp/ipco', ...properties, 'meta/iprp/ipma']
    expect(listBoxTypes(bytes)).toEqual(['ftyp', 'meta', ...tables, ...items('av01'), ...entries, 'mdat'])
    expect(bytes.subarray(-colour.length)).toEqual(colour)
  })

  it('keeps known brands only', () => {
    const brands = ['mif1', 'avif', 'miaf', 'heic', '<scr']
    expect(clean(avif({}, { brands })).subarray(0, 28)).toEqual(join(big(28, 4), 'ftypavif', big(0, 4), 'avifmif1miaf'))
  })

  it('keeps its alpha plane', () => {
    const bytes = clean(avif(EVERYTHING, { hasAlpha: true }))
    expect(listItems(bytes)).toEqual(items('av01', 'av01'))
    expect(listBoxTypes(bytes)).toContain('meta/iref/auxl')
    expect(count(bytes, colour, alpha)).toBe(1)
  })

  it('keeps its rotation', () => {
    expect(count(clean(avif(EVERYTHING, { rotation: 3 })), 'irot', [3])).toBe(1)
  })

  it('drops a depth map', () => {
    const bytes = avif({}, { hasAlpha: true, auxiliary: 'urn:mpeg:hevc:2015:auxid:2\0' })
    expect(listItems(clean(bytes))).toEqual(items('av01'))
  })

  it('drops its thumbnail', () => {
    expect(listItems(clean(avif(EVERYTHING, { hasThumbnail: true })))).toEqual(items('av01'))
  })

  it('keeps the cells of a grid', () => {
    const bytes = clean(avif(EVERYTHING, { isGrid: true }))
    expect(listItems(bytes)).toEqual(items('grid', 'av01', 'av01'))
    expect(count(bytes, tile, tile)).toBe(1)
    const [hidden, visible] = [1, 0].map((flag) => count(bytes, 'infe', [2, 0, 0, flag]))
    expect({ hidden, visible }).toEqual({ hidden: 2, visible: 1 })
  })

  it('keeps its animation without times and names', () => {
    const bytes = clean(avif(EVERYTHING, { isAnimated: true }))
    const place = bytes.length - 2 * colour.length
    expect(count(bytes, colour, colour, colour)).toBe(1)
    expect(count(bytes, 'stco', big(0, 4), big(1, 4), big(place, 4))).toBe(1)
    expect(count(bytes, big(0xe0000000, 4))).toBe(0)
    expect(listBoxTypes(bytes).filter((path) => path.includes('udta'))).toEqual([])
  })
})
