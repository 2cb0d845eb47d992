import { describe, expect, it } from 'vitest'
import { cleanImage } from '../../../src/transfer/reader/images/clean-image'
import { join, type Part, store, toText, u32, zeros } from '../../support/bytes'
import { CAMERA_MARKS } from '../../support/images/camera'
import { displayP3, palettePng } from '../../support/images/encoded'
import {
  clean,
  count,
  listChunks,
  listMarkers,
  listRiffChunks,
  orientationBlock,
  tryClean,
} from '../../support/images/image-structure'
import {
  animatedPng,
  animatedWebp,
  application,
  blocks,
  chunk,
  EVERYTHING,
  gif,
  gifFrame,
  gifScreen,
  jpeg,
  type Metadata,
  png,
  SIZE,
  segment,
  WEBP_DATA,
  webp,
} from '../../support/images/pictures'

type Make = (metadata?: Metadata) => Uint8Array<ArrayBuffer>
type Kind = [name: string, extension: keyof typeof MIMES, make: Make]

/** Formats that store the orientation in Exif. */
const EXIF_KINDS: Kind[] = [
  ['baseline JPEG', 'jpg', jpeg],
  ['progressive JPEG', 'jpg', (metadata) => jpeg(metadata, 'progressive')],
  ['PNG with Exif before the data', 'png', png],
  ['PNG with Exif after the data', 'png', (metadata) => png(metadata, 'after')],
  ['animated PNG', 'png', animatedPng],
  ['lossy WebP', 'webp', webp],
  ['lossless WebP', 'webp', (metadata) => webp(metadata, 'lossless')],
  ['transparent WebP', 'webp', (metadata) => webp(metadata, 'alpha')],
  ['WebP with the Exif prefix of JPEG', 'webp', (metadata) => webp(metadata, 'lossy', 'Exif\0\0')],
  ['animated WebP', 'webp', animatedWebp],
]

const KINDS: Kind[] = [...EXIF_KINDS, ['GIF', 'gif', gif]]

const MIMES = { jpg: 'image/jpeg', png: 'image/png', gif: 'image/gif', webp: 'image/webp' }

describe.each(KINDS)('cleaning: %s', (_, extension, make) => {
  it('detects the type and size from the content', () => {
    const type = MIMES[extension]
    expect(cleanImage(make())).toMatchObject({ type, ...SIZE })
    expect(cleanImage(make(EVERYTHING))).toMatchObject({ type, ...SIZE })
  })

  it('removes all camera metadata', () => {
    const before = toText(make(EVERYTHING))
    const after = toText(clean(make(EVERYTHING)))
    expect(CAMERA_MARKS.filter((mark) => before.includes(mark))).toContain('GPSMARK')
    expect(CAMERA_MARKS.filter((mark) => after.includes(mark))).toEqual([])
    expect(after).not.toMatch(/xmpmeta|8BIM|JFXX|MPF\0|ftypmp42/)
  })

  it('does not change a cleaned image', () => {
    const cleaned = clean(make(EVERYTHING))
    expect(clean(cleaned)).toEqual(cleaned)
  })

  it('does not modify its input', () => {
    const [bytes, copy] = [make(EVERYTHING), make(EVERYTHING)]
    clean(bytes)
    expect(bytes).toEqual(copy)
  })

  it('refuses or completes an image truncated anywhere', () => {
    const { trailing: _, ...metadata } = EVERYTHING
    const bytes = make(metadata)
    const cleaned = clean(bytes)
    const endLength = { jpg: 2, gif: 1, png: 0, webp: 0 }[extension]
    const completed = new Set<number>()
    for (let length = 0; length < bytes.length; length++) {
      const image = tryClean(bytes.slice(0, length))
      if (typeof image === 'string') continue
      const kept = image.bytes.length - endLength
      expect(image.bytes).toEqual(join(cleaned.subarray(0, kept), cleaned.subarray(cleaned.length - endLength)))
      completed.add(image.bytes.length)
    }
    // In the other formats, only metadata after the image may be missing.
    expect(completed.size > 1).toBe(endLength > 0)
  })

  it('writes no Exif for an upright image', () => {
    const upright = [{ orientation: 0 }, { orientation: 1 }, { orientation: 9 }, { exif: true }]
    for (const metadata of upright) expect(toText(clean(make(metadata)))).not.toMatch(/MM\0\*|II\*\0|exif/i)
  })

  it('refuses or cleans a corrupt image without throwing', () => {
    const bytes = make(EVERYTHING)
    // A pseudo-random generator with a fixed seed (Park and Miller).
    let state = 20_240_506
    const random = (below: number) => {
      state = (state * 48_271) % 2_147_483_647
      return state % below
    }
    for (let round = 0; round < 300; round++) {
      const corrupt = bytes.slice()
      for (let times = random(4); times >= 0; times--) corrupt[random(corrupt.length)] = random(256)
      const image = tryClean(corrupt)
      if (typeof image !== 'string') expect(image.bytes.length).toBeLessThanOrEqual(corrupt.length + 64)
    }
  })
})

it.each(EXIF_KINDS)('keeps the orientation: %s', (_name, _extension, make) => {
  for (const order of ['II', 'MM'] as const) {
    for (let orientation = 2; orientation <= 8; orientation++) {
      const bytes = clean(make({ orientation, order, exif: true }))
      expect(count(bytes, orientationBlock(orientation))).toBe(1)
      expect(count(bytes, 'MM\0*') + count(bytes, 'II*\0')).toBe(1)
    }
  }
})

const PROFILE_KINDS = KINDS.filter(([name, extension]) => extension !== 'gif' && !name.includes('animated'))
it.each(PROFILE_KINDS)('keeps the colour profile: %s', (_name, _extension, make) => {
  expect(count(clean(make({ profile: true })), displayP3)).toBe(1)
})

it('fills the segments of a JPEG with a large colour profile', () => {
  const profile = join(u32(70_000), displayP3.subarray(4), zeros(70_000 - displayP3.length))
  const inSegments = (length: number) =>
    join(
      segment(0xe2, 'ICC_PROFILE\0', [1, 2], profile.subarray(0, length)),
      segment(0xe2, 'ICC_PROFILE\0', [2, 2], profile.subarray(length)),
    )
  expect(count(clean(jpeg({ extra: inSegments(30_000) })), inSegments(65_519))).toBe(1)
})

const UNCHANGED_KINDS = KINDS.filter(([, extension]) => ['png', 'gif', 'webp'].includes(extension))
it.each([...UNCHANGED_KINDS, ['PNG with a palette and alpha', 'png', () => palettePng] as const])(
  'does not change an image without metadata: %s',
  (_name, _extension, make) => expect(clean(make())).toEqual(make()),
)

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

  const progressive = jpeg({}, 'progressive')
  const scans = progressive.subarray(toText(progressive).indexOf('\xff\xc2'))
  const loop = application('NETSCAPE2.0', blocks([1, 7, 0]))
  const twoLoops = gif({ extra: join(loop, loop) })
  it.each<[title: string, bytes: ReturnType<Make>, ...parts: Part[]]>([
    ['keeps JPEG scans unchanged', jpeg(EVERYTHING, 'progressive'), scans],
    ['keeps only the Adobe colour transform', jpeg(), [0xff, 0xee, 0, 14], 'Adobe', [0, 100, 0, 0, 0, 0, 1]],
    ['replaces the name of a PNG colour profile', png({ profile: true }), 'iCCPicc\0\0', store(displayP3)],
    ['keeps one loop extension of a GIF', twoLoops, 'NETSCAPE2.0'],
    ['keeps the loop count of a GIF', twoLoops, loop],
  ])('%s', (_, bytes, ...parts) => {
    expect(count(clean(bytes), ...parts)).toBe(1)
  })

  it('removes the JFIF thumbnail', () => {
    expect(clean(jpeg()).subarray(2, 20)).toEqual(join([0xff, 0xe0, 0, 16], 'JFIF\0', [1, 2, 1, 0, 72, 0, 72, 0, 0]))
  })

  it('ignores an orientation after the end of a PNG', () => {
    expect(clean(png({ trailing: chunk('eXIf', orientationBlock(6)) }))).toEqual(png())
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
})

it.each([
  [
    'UNSUPPORTED_IMAGE',
    [join(''), join('BM', new Uint8Array(60)), join(' ', png()), join(u32(24), 'ftypavif', u32(0), 'avifmif1')],
  ],
  ['IMAGE_DAMAGED', [png().slice(0, -1), webp().slice(0, -1), join('GIF89a'), join([0xff, 0xd8])]],
])('says why an image is refused: %s', (code, files) => {
  for (const bytes of files) expect(tryClean(bytes)).toBe(code)
})
