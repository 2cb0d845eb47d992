import { describe, expect, it } from 'vitest'
import type { AvifOptions } from '../support/avif'
import { join, type Part, store, toText, u32 } from '../support/bytes'
import { alpha, colour, displayP3, tile } from '../support/encoded'
import {
  clean,
  count,
  listBoxTypes,
  listChunks,
  listMarkers,
  listRiffChunks,
  orientationBlock,
} from '../support/image-structure'
import {
  animatedPng,
  animatedWebp,
  application,
  avif,
  blocks,
  chunk,
  EVERYTHING,
  gif,
  gifFrame,
  gifScreen,
  jpeg,
  png,
  WEBP_DATA,
  webp,
} from '../support/pictures'

describe('a cleaned image', () => {
  const jpegData = listMarkers(jpeg()).filter((marker) => !marker.startsWith('e'))
  it.each([
    ['JPEG segments', listMarkers(clean(jpeg(EVERYTHING))), `e0,e1,e2,ee,${jpegData}`],
    ['JPEG segments without metadata', listMarkers(clean(jpeg())), `e0,ee,${jpegData}`],
    ['PNG chunks', listChunks(clean(png(EVERYTHING))), 'IHDR,iCCP,pHYs,eXIf,IDAT,IDAT,IEND'],
    ['PNG chunks, Exif moved', listChunks(clean(png(EVERYTHING, 'after'))), 'IHDR,iCCP,pHYs,eXIf,IDAT,IDAT,IEND'],
    ['PNG frames', listChunks(clean(animatedPng(EVERYTHING))), 'IHDR,acTL,fcTL,eXIf,IDAT,fcTL,fdAT,IEND'],
    ['WebP chunks', listRiffChunks(clean(webp(EVERYTHING, 'alpha'))), 'VP8X,ICCP,ALPH,VP8 ,EXIF'],
    ['WebP frames', listRiffChunks(clean(animatedWebp(EVERYTHING))), 'VP8X,ANIM,ANMF,VP8 ,ANMF,VP8L,EXIF'],
  ])('has only the required parts, in their usual order: %s', (_, types, expected) => {
    expect(types.join()).toBe(expected)
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

  it('ignores an orientation after the end of a PNG', () => {
    expect(clean(png({ trailing: chunk('eXIf', orientationBlock(6)) }))).toEqual(png())
  })

  it('keeps one loop count of a GIF', () => {
    const loop = application('NETSCAPE2.0', blocks([1, 7, 0]))
    const bytes = clean(gif({ extra: join(loop, loop) }))
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

  it('keeps WebP data unchanged and sets the flags of what it contains', () => {
    const bytes = clean(webp(EVERYTHING, 'alpha'))
    expect(count(bytes, WEBP_DATA.alpha)).toBe(1)
    expect(bytes[20]).toBe(0x20 + 0x10 + 0x08)
    expect(clean(webp({ xmp: true }))[20]).toBe(0x10)
  })

  it('drops an invalid colour profile', () => {
    const bytes = webp({ profile: true })
    bytes.set(join('none'), toText(bytes).indexOf('acsp'))
    expect(listRiffChunks(clean(bytes))).toEqual(['VP8X', 'VP8 '])
    expect(clean(bytes)[20]).toBe(0x10)
  })

  it('replaces the name of a PNG colour profile', () => {
    expect(count(clean(png({ profile: true })), 'iCCPicc\0\0', store(displayP3))).toBe(1)
  })
})

describe('a cleaned AVIF', () => {
  it('has its tables and data, and no items but images', () => {
    const bytes = clean(avif(EVERYTHING))
    const meta = ['hdlr', 'pitm', 'iloc', 'iinf', 'iinf/infe:av01', 'iprp', 'iprp/ipco']
    const properties = ['ispe', 'av1C', 'pixi', 'colr', 'colr'].map((type) => `iprp/ipco/${type}`)
    const tables = [...meta, ...properties, 'iprp/ipma'].map((path) => `meta/${path}`)
    expect(listBoxTypes(bytes)).toEqual(['ftyp', 'meta', ...tables, 'mdat'])
    expect(bytes.subarray(-colour.length)).toEqual(colour)
  })

  it('keeps known brands only', () => {
    const brands = ['mif1', 'avif', 'miaf', 'heic', '<scr']
    expect(clean(avif({}, { brands })).subarray(0, 28)).toEqual(join(u32(28), 'ftypavif', u32(0), 'avifmif1miaf'))
  })

  const DEPTH = 'urn:mpeg:hevc:2015:auxid:2\0'
  it.each<[title: string, options: AvifOptions, items: string[], data: Part[]]>([
    ['keeps its alpha plane', { hasAlpha: true }, ['av01', 'av01'], [colour, alpha]],
    ['drops a depth map', { hasAlpha: true, auxiliary: DEPTH }, ['av01'], [colour]],
    ['drops its thumbnail', { hasThumbnail: true }, ['av01'], [colour]],
    ['keeps the cells of a grid', { isGrid: true }, ['grid', 'av01', 'av01'], [tile, tile]],
    ['keeps its rotation', { rotation: 3 }, ['av01'], ['irot', [3]]],
    ['keeps its frames', { isAnimated: true }, ['av01'], [colour, colour, colour]],
  ])('%s', (_, options, items, data) => {
    const bytes = clean(avif(EVERYTHING, options))
    const paths = listBoxTypes(bytes)
    expect(paths.filter((path) => path.includes('infe:'))).toEqual(items.map((type) => `meta/iinf/infe:${type}`))
    expect(paths.includes('meta/iref/auxl')).toBe(items.join() === 'av01,av01')
    expect(count(bytes, ...data)).toBe(1)
  })

  it('hides the cells of a grid', () => {
    const bytes = clean(avif(EVERYTHING, { isGrid: true }))
    const [hidden, visible] = [1, 0].map((flag) => count(bytes, 'infe', [2, 0, 0, flag]))
    expect({ hidden, visible }).toEqual({ hidden: 2, visible: 1 })
  })

  it('has no times and names in its animation', () => {
    const bytes = clean(avif(EVERYTHING, { isAnimated: true }))
    const place = bytes.length - 2 * colour.length
    expect(count(bytes, 'stco', u32(0, 1, place))).toBe(1)
    expect(count(bytes, u32(0xe0000000))).toBe(0)
    expect(listBoxTypes(bytes).filter((path) => path.includes('udta'))).toEqual([])
  })
})
