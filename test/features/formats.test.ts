import { describe, expect, it } from 'vitest'
import { cleanImage, type ImageType, MAX_PIXELS } from '../../src/images/formats/clean'
import { alpha, codedSize, colour, tile } from '../support/avif'
import { big, join, store, toText } from '../support/bytes'
import { CAMERA_MARKS } from '../support/camera'
import { count, listBoxTypes, listChunks, listMarkers, listRiffChunks } from '../support/outline'
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
  type Metadata,
  PNG_SIGNATURE,
  PROFILE,
  paletteWithAlphaPng,
  png,
  pngHeader,
  SIZE,
  webp,
  webpData,
} from '../support/pictures'

type Kind = {
  name: string
  extension: ImageType['extension']
  make: (metadata?: Metadata) => Uint8Array<ArrayBuffer>
  /** Whether orientation is a matter of Exif in it. */
  isTurned?: boolean
  width?: number
  height?: number
}

const KINDS: Kind[] = [
  { name: 'a baseline JPEG', extension: 'jpg', make: (metadata) => jpeg(metadata), isTurned: true },
  { name: 'a progressive JPEG', extension: 'jpg', make: (metadata) => jpeg(metadata, 'progressive'), isTurned: true },
  { name: 'a PNG with Exif first', extension: 'png', make: (metadata) => png(metadata), isTurned: true },
  { name: 'a PNG with Exif last', extension: 'png', make: (metadata) => png(metadata, 'after'), isTurned: true },
  { name: 'an animated PNG', extension: 'png', make: animatedPng, isTurned: true },
  { name: 'a GIF', extension: 'gif', make: (metadata) => gif(metadata) },
  { name: 'a lossy WebP', extension: 'webp', make: (metadata) => webp(metadata), isTurned: true },
  { name: 'a lossless WebP', extension: 'webp', make: (metadata) => webp(metadata, 'lossless'), isTurned: true },
  { name: 'a transparent WebP', extension: 'webp', make: (metadata) => webp(metadata, 'alpha'), isTurned: true },
  {
    name: 'a WebP with the prefix of JPEG',
    extension: 'webp',
    make: (data) => webp(data, 'lossy', 'Exif\0\0'),
    isTurned: true,
  },
  { name: 'an animated WebP', extension: 'webp', make: (metadata) => animatedWebp(metadata), isTurned: true },
  { name: 'an AVIF', extension: 'avif', make: (metadata) => avif(metadata) },
  { name: 'a transparent AVIF', extension: 'avif', make: (metadata) => avif(metadata, { hasAlpha: true }) },
  { name: 'a turned AVIF', extension: 'avif', make: (metadata) => avif(metadata, { rotation: 1 }) },
  { name: 'an AVIF with a thumbnail', extension: 'avif', make: (metadata) => avif(metadata, { hasThumbnail: true }) },
  {
    name: 'an AVIF with long numbers',
    extension: 'avif',
    make: (metadata) => avif(metadata, { isWide: true, hasAlpha: true }),
  },
  { name: 'an AVIF with small data apart', extension: 'avif', make: (metadata) => avif(metadata, { isSmall: true }) },
  {
    name: 'an AVIF of a grid',
    extension: 'avif',
    make: (metadata) => avif(metadata, { isGrid: true }),
    width: 128,
    height: 64,
  },
  { name: 'an animated AVIF', extension: 'avif', make: (metadata) => avif(metadata, { isAnimated: true }) },
]

const MIMES = { jpg: 'image/jpeg', png: 'image/png', gif: 'image/gif', webp: 'image/webp', avif: 'image/avif' }

const clean = (bytes: Uint8Array<ArrayBuffer>) => {
  const picture = cleanImage(bytes)
  if (!picture) throw new Error('The picture was refused')
  return picture.bytes
}

// The only Exif block that is ever written: one entry, the orientation.
const orientationBlock = (orientation: number) =>
  join('MM\0*', big(8, 4), big(1, 2), big(0x0112, 2), big(3, 2), big(1, 4), big(orientation, 2), big(0, 6))

describe('a picture', () => {
  it.each(KINDS)('is known by its content if it is $name', ({ extension, make, width, height }) => {
    const size = { width: width ?? SIZE.width, height: height ?? SIZE.height }
    const type = { mime: MIMES[extension], extension }
    expect(cleanImage(make())).toMatchObject({ type, ...size })
    expect(cleanImage(make(EVERYTHING))).toMatchObject({ type, ...size })
  })

  it.each(KINDS)('has nothing left of the camera if it is $name', ({ make }) => {
    const before = toText(make(EVERYTHING))
    const after = toText(clean(make(EVERYTHING)))
    expect(CAMERA_MARKS.filter((mark) => before.includes(mark))).toContain('GPSMARK')
    expect(CAMERA_MARKS.filter((mark) => after.includes(mark))).toEqual([])
    expect(after).not.toMatch(/xmpmeta|8BIM|JFXX|MPF\0|libavif|ftypmp42/)
  })

  it.each(KINDS)('is the same cleaned twice if it is $name', ({ make }) => {
    const once = clean(make(EVERYTHING))
    expect(clean(once)).toEqual(once)
  })

  it.each(KINDS)('is left alone itself if it is $name', ({ make }) => {
    const [bytes, copy] = [make(EVERYTHING), make(EVERYTHING)]
    clean(bytes)
    expect(bytes).toEqual(copy)
  })

  it.each(KINDS)('is refused wherever it is cut off if it is $name', ({ make }) => {
    const { trailing: _, ...metadata } = EVERYTHING
    const bytes = make(metadata)
    const whole = clean(bytes)
    for (let length = 0; length < bytes.length; length++) {
      const picture = cleanImage(bytes.slice(0, length))
      // What is cut off may be metadata behind the picture, which makes no difference.
      if (picture) expect(picture.bytes).toEqual(whole)
    }
    expect(cleanImage(bytes.slice(0, bytes.length / 2))).toBeUndefined()
  })

  it.each(KINDS.filter(({ isTurned }) => isTurned))('stays turned as it is if it is $name', ({ make }) => {
    for (const order of ['II', 'MM'] as const) {
      for (let orientation = 2; orientation <= 8; orientation++) {
        const bytes = clean(make({ orientation, order, exif: true }))
        expect(count(bytes, orientationBlock(orientation))).toBe(1)
        expect(count(bytes, 'MM\0*') + count(bytes, 'II*\0')).toBe(1)
      }
    }
  })

  it.each(KINDS)('has no Exif at all if it is $name and upright', ({ make }) => {
    for (const orientation of [0, 1, 9]) expect(toText(clean(make({ orientation })))).not.toMatch(/MM\0\*|II\*\0|exif/i)
    expect(toText(clean(make({ exif: true })))).not.toMatch(/MM\0\*|II\*\0|exif/i)
  })
})

describe('a picture without metadata', () => {
  it.each([
    ['a PNG', png()],
    ['a PNG of few colours', paletteWithAlphaPng()],
    ['an animated PNG', animatedPng()],
    ['a GIF', gif()],
    ['a lossy WebP', webp()],
    ['a lossless WebP', webp({}, 'lossless')],
    ['an animated WebP', animatedWebp()],
  ])('is not changed if it is %s', (_, bytes) => {
    expect(clean(bytes)).toEqual(bytes)
  })
})

describe('a cleaned picture', () => {
  it('has the segments of a JPEG that are needed, in their usual order', () => {
    const base = listMarkers(jpeg()).filter((marker) => !marker.startsWith('e'))
    expect(listMarkers(clean(jpeg(EVERYTHING)))).toEqual(['e0', 'e1', 'e2', 'ee', ...base])
    expect(listMarkers(clean(jpeg()))).toEqual(['e0', 'ee', ...base])
  })

  it('has the scans of a JPEG as they were', () => {
    const bytes = jpeg({}, 'progressive')
    const scans = bytes.subarray(bytes.findIndex((byte, at) => byte === 0xff && bytes[at + 1] === 0xc2))
    expect(count(clean(jpeg(EVERYTHING, 'progressive')), scans)).toBe(1)
  })

  it('has no thumbnail in the first segment of a JPEG', () => {
    expect(clean(jpeg()).subarray(2, 20)).toEqual(join([0xff, 0xe0, 0, 16], 'JFIF\0', [1, 2, 1, 0, 72, 0, 72, 0, 0]))
  })

  it('keeps what Adobe says about the colours of a JPEG, and no more', () => {
    expect(count(clean(jpeg()), [0xff, 0xee, 0, 14], 'Adobe', [0, 100, 0, 0, 0, 0, 1])).toBe(1)
  })

  it('has the chunks of a PNG that are needed, Exif before the picture data', () => {
    const types = ['IHDR', 'iCCP', 'pHYs', 'eXIf', 'IDAT', 'IDAT', 'IEND']
    expect(listChunks(clean(png(EVERYTHING)))).toEqual(types)
    expect(listChunks(clean(png(EVERYTHING, 'after')))).toEqual(types)
  })

  it('has the frames of an animated PNG', () => {
    const types = ['IHDR', 'acTL', 'fcTL', 'eXIf', 'IDAT', 'fcTL', 'fdAT', 'IEND']
    expect(listChunks(clean(animatedPng(EVERYTHING)))).toEqual(types)
  })

  it('takes no orientation from behind the end of a PNG', () => {
    expect(clean(png({ trailing: chunk('eXIf', orientationBlock(6)) }))).toEqual(png())
  })

  it('has the loop count of a GIF once', () => {
    const loop = join([0x21, 0xff, 11], 'NETSCAPE2.0', blocks([1, 7, 0]))
    const bytes = clean(gif({}, loop, loop))
    expect(count(bytes, 'NETSCAPE2.0')).toBe(1)
    expect(count(bytes, loop)).toBe(1)
  })

  it('has the control of a frame of a GIF, but none of a text that is gone', () => {
    const control = (delay: number) => [0x21, 0xf9, 4, 0, delay, 0, 0, 0]
    const text = join([0x21, 0x01], blocks('text'))
    const note = join([0x21, 0xfe], blocks('note'))
    const [head, frame] = [gifScreen(4, 4), gifFrame(4, 4)]
    const whole = join(head, control(1), text, frame, control(2), note, frame, [0x3b])
    expect(clean(whole)).toEqual(join(head, frame, control(2), frame, [0x3b]))
  })

  it('has the chunks of a WebP that are needed, and says so', () => {
    const bytes = clean(webp(EVERYTHING, 'alpha'))
    expect(listRiffChunks(bytes)).toEqual(['VP8X', 'ICCP', 'ALPH', 'VP8 ', 'EXIF'])
    expect(bytes[20]).toBe(0x20 + 0x10 + 0x08)
    expect(clean(webp({ xmp: true }))[20]).toBe(0x10)
    expect(count(bytes, webpData('alpha'))).toBe(1)
  })

  it('has the frames of an animated WebP', () => {
    const types = ['VP8X', 'ANIM', 'ANMF', 'VP8 ', 'ANMF', 'VP8L', 'EXIF']
    expect(listRiffChunks(clean(animatedWebp(EVERYTHING)))).toEqual(types)
  })

  it.each(KINDS.filter(({ extension, name }) => extension !== 'gif' && !name.includes('animated')))(
    'has the colour profile if it is $name',
    ({ make }) => {
      expect(count(clean(make({ profile: true })), PROFILE)).toBe(1)
    },
  )

  it('has no profile that is none', () => {
    const bytes = webp({ profile: true })
    const at = toText(bytes).indexOf('acsp')
    bytes.set(join('none'), at)
    expect(listRiffChunks(clean(bytes))).toEqual(['VP8X', 'VP8 '])
    expect(clean(bytes)[20]).toBe(0x10)
  })

  it('has the profile of a PNG under no name of its own', () => {
    expect(count(clean(png({ profile: true })), 'iCCPicc\0\0', store(PROFILE))).toBe(1)
  })
})

describe('a cleaned AVIF', () => {
  const listItems = (bytes: Uint8Array) => listBoxTypes(bytes).filter((path) => path.startsWith('meta/iinf/'))
  const items = (...types: string[]) => types.map((type) => `meta/iinf/infe:${type}`)

  it('has its tables and its data, and no items but pictures', () => {
    const bytes = clean(avif(EVERYTHING))
    const properties = ['ispe', 'av1C', 'pixi', 'colr', 'colr'].map((type) => `meta/iprp/ipco/${type}`)
    const tables = ['hdlr', 'pitm', 'iloc', 'iinf'].map((type) => `meta/${type}`)
    const entries = ['meta/iprp', 'meta/iprp/ipco', ...properties, 'meta/iprp/ipma']
    expect(listBoxTypes(bytes)).toEqual(['ftyp', 'meta', ...tables, ...items('av01'), ...entries, 'mdat'])
    expect(bytes.subarray(-colour.length)).toEqual(colour)
  })

  it('says what it is by the brands it had and that are known', () => {
    const brands = ['mif1', 'avif', 'miaf', 'heic', '<scr']
    expect(clean(avif({}, { brands })).subarray(0, 28)).toEqual(join(big(28, 4), 'ftypavif', big(0, 4), 'avifmif1miaf'))
  })

  it('keeps its transparency', () => {
    const bytes = clean(avif(EVERYTHING, { hasAlpha: true }))
    expect(listItems(bytes)).toEqual(items('av01', 'av01'))
    expect(listBoxTypes(bytes)).toContain('meta/iref/auxl')
    expect(count(bytes, colour, alpha)).toBe(1)
  })

  it('keeps the property that turns it', () => {
    expect(count(clean(avif(EVERYTHING, { rotation: 3 })), 'irot', [3])).toBe(1)
  })

  it('loses a map of depths', () => {
    const bytes = avif({}, { hasAlpha: true, auxiliary: 'urn:mpeg:hevc:2015:auxid:2\0' })
    expect(listItems(clean(bytes))).toEqual(items('av01'))
  })

  it('loses its thumbnail', () => {
    expect(listItems(clean(avif(EVERYTHING, { hasThumbnail: true })))).toEqual(items('av01'))
  })

  it('keeps the parts of a grid', () => {
    const bytes = clean(avif(EVERYTHING, { isGrid: true }))
    expect(listItems(bytes)).toEqual(items('grid', 'av01', 'av01'))
    expect(count(bytes, tile, tile)).toBe(1)
  })

  it('keeps its animation, but no times or names', () => {
    const bytes = clean(avif(EVERYTHING, { isAnimated: true }))
    const place = bytes.length - 2 * colour.length
    expect(count(bytes, colour, colour, colour)).toBe(1)
    expect(count(bytes, 'stco', big(0, 4), big(1, 4), big(place, 4))).toBe(1)
    expect(count(bytes, big(0xe0000000, 4))).toBe(0)
    expect(listBoxTypes(bytes).filter((path) => path.includes('udta'))).toEqual([])
  })
})

describe('the pixel limit', () => {
  const pngOf = (width: number, height: number) =>
    join(PNG_SIGNATURE, pngHeader(width, height), chunk('IDAT', store('')), chunk('IEND'))
  const avifOf = (width: number, height: number) => avif({}, { data: codedSize(width, height), width, height })

  it('lets through a picture that just meets it', () => {
    expect(10_000 * 5_000).toBe(MAX_PIXELS)
    expect(cleanImage(pngOf(10_000, 5_000))).toMatchObject({ width: 10_000, height: 5_000 })
    expect(cleanImage(avifOf(10_000, 5_000))).toMatchObject({ width: 10_000, height: 5_000 })
  })

  it('stops a picture one row larger', () => {
    expect(cleanImage(pngOf(10_000, 5_001))).toBeUndefined()
    expect(cleanImage(avifOf(10_000, 5_001))).toBeUndefined()
  })
})

describe('a damaged picture', () => {
  it.each(KINDS)('is refused or cleaned, but never a failure, if it is $name', ({ make }) => {
    const bytes = make(EVERYTHING)
    // A generator of numbers that are the same in every run (Park and Miller).
    let state = 20_240_506
    const random = (below: number) => {
      state = (state * 48_271) % 2_147_483_647
      return state % below
    }
    for (let round = 0; round < 300; round++) {
      const damaged = bytes.slice()
      for (let times = random(4); times >= 0; times--) damaged[random(damaged.length)] = random(256)
      const picture = cleanImage(damaged)
      if (picture) expect(picture.bytes.length).toBeLessThanOrEqual(damaged.length + 64)
    }
  })
})
