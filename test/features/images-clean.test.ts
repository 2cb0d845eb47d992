import { describe, expect, it } from 'vitest'
import { cleanImage, type ImageType } from '../../src/images/clean/clean-image'
import type { AvifOptions } from '../support/avif'
import { codedSize } from '../support/avif-boxes'
import { join, store, toText } from '../support/bytes'
import { CAMERA_MARKS } from '../support/camera'
import { clean, orientationBlock } from '../support/clean'
import { count } from '../support/image-structure'
import {
  animatedPng,
  animatedWebp,
  avif,
  chunk,
  EVERYTHING,
  gif,
  jpeg,
  type Metadata,
  PNG_SIGNATURE,
  PROFILE,
  paletteWithAlphaPng,
  png,
  pngHeader,
  SIZE,
  webp,
} from '../support/pictures'

type Kind = {
  name: string
  extension: ImageType['extension']
  make: (metadata?: Metadata) => Uint8Array<ArrayBuffer>
  size?: { width: number; height: number }
}

const avifKind = (name: string, options: AvifOptions = {}): Kind => ({
  name: `AVIF ${name}`,
  extension: 'avif',
  make: (metadata) => avif(metadata, options),
})

/** Formats that store the orientation in Exif. */
const EXIF_KINDS: Kind[] = [
  { name: 'baseline JPEG', extension: 'jpg', make: (metadata) => jpeg(metadata) },
  { name: 'progressive JPEG', extension: 'jpg', make: (metadata) => jpeg(metadata, 'progressive') },
  { name: 'PNG with Exif before the data', extension: 'png', make: (metadata) => png(metadata) },
  { name: 'PNG with Exif after the data', extension: 'png', make: (metadata) => png(metadata, 'after') },
  { name: 'animated PNG', extension: 'png', make: animatedPng },
  { name: 'lossy WebP', extension: 'webp', make: (metadata) => webp(metadata) },
  { name: 'lossless WebP', extension: 'webp', make: (metadata) => webp(metadata, 'lossless') },
  { name: 'transparent WebP', extension: 'webp', make: (metadata) => webp(metadata, 'alpha') },
  { name: 'WebP with the Exif prefix of JPEG', extension: 'webp', make: (data) => webp(data, 'lossy', 'Exif\0\0') },
  { name: 'animated WebP', extension: 'webp', make: (metadata) => animatedWebp(metadata) },
]

const KINDS: Kind[] = [
  ...EXIF_KINDS,
  { name: 'GIF', extension: 'gif', make: (metadata) => gif(metadata) },
  avifKind('of one item'),
  avifKind('with alpha', { hasAlpha: true }),
  avifKind('with rotation', { rotation: 1 }),
  avifKind('with a thumbnail', { hasThumbnail: true }),
  avifKind('with 4-byte item IDs', { isWide: true, hasAlpha: true }),
  avifKind('with an idat box', { isSmall: true }),
  { ...avifKind('of a grid', { isGrid: true }), size: { width: 128, height: 64 } },
  avifKind('of an animation', { isAnimated: true }),
]

const MIMES = { jpg: 'image/jpeg', png: 'image/png', gif: 'image/gif', webp: 'image/webp', avif: 'image/avif' }

describe.each(KINDS)('cleaning: $name', ({ extension, make, size = SIZE }) => {
  it('detects the type and size from the content', () => {
    const type = { mime: MIMES[extension], extension }
    expect(cleanImage(make())).toMatchObject({ type, ...size })
    expect(cleanImage(make(EVERYTHING))).toMatchObject({ type, ...size })
  })

  it('removes all camera metadata', () => {
    const before = toText(make(EVERYTHING))
    const after = toText(clean(make(EVERYTHING)))
    expect(CAMERA_MARKS.filter((mark) => before.includes(mark))).toContain('GPSMARK')
    expect(CAMERA_MARKS.filter((mark) => after.includes(mark))).toEqual([])
    expect(after).not.toMatch(/xmpmeta|8BIM|JFXX|MPF\0|libavif|ftypmp42/)
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

  it('refuses an image truncated anywhere', () => {
    const { trailing: _, ...metadata } = EVERYTHING
    const bytes = make(metadata)
    const cleaned = clean(bytes)
    for (let length = 0; length < bytes.length; length++) {
      const image = cleanImage(bytes.slice(0, length))
      // Unless only metadata after the image is missing.
      if (image) expect(image.bytes).toEqual(cleaned)
    }
    expect(cleanImage(bytes.slice(0, bytes.length / 2))).toBeUndefined()
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
      const image = cleanImage(corrupt)
      if (image) expect(image.bytes.length).toBeLessThanOrEqual(corrupt.length + 64)
    }
  })
})

it.each(EXIF_KINDS)('keeps the orientation: $name', ({ make }) => {
  for (const order of ['II', 'MM'] as const) {
    for (let orientation = 2; orientation <= 8; orientation++) {
      const bytes = clean(make({ orientation, order, exif: true }))
      expect(count(bytes, orientationBlock(orientation))).toBe(1)
      expect(count(bytes, 'MM\0*') + count(bytes, 'II*\0')).toBe(1)
    }
  }
})

it.each(KINDS.filter(({ extension, name }) => extension !== 'gif' && !name.includes('animated')))(
  'keeps the colour profile: $name',
  ({ make }) => {
    expect(count(clean(make({ profile: true })), PROFILE)).toBe(1)
  },
)

it.each([
  ['PNG', png()],
  ['PNG with a palette and alpha', paletteWithAlphaPng()],
  ['animated PNG', animatedPng()],
  ['GIF', gif()],
  ['lossy WebP', webp()],
  ['lossless WebP', webp({}, 'lossless')],
  ['animated WebP', animatedWebp()],
])('does not change an image without metadata: %s', (_, bytes) => {
  expect(clean(bytes)).toEqual(bytes)
})

describe('the pixel limit', () => {
  const pngOf = (width: number, height: number) =>
    join(PNG_SIGNATURE, pngHeader(width, height), chunk('IDAT', store('')), chunk('IEND'))
  const avifOf = (width: number, height: number) => avif({}, { data: codedSize(width, height), width, height })

  it('accepts an image of exactly 50 megapixels', () => {
    expect(cleanImage(pngOf(10_000, 5_000))).toMatchObject({ width: 10_000, height: 5_000 })
    expect(cleanImage(avifOf(10_000, 5_000))).toMatchObject({ width: 10_000, height: 5_000 })
  })

  it('refuses an image one row larger', () => {
    expect(cleanImage(pngOf(10_000, 5_001))).toBeUndefined()
    expect(cleanImage(avifOf(10_000, 5_001))).toBeUndefined()
  })
})
