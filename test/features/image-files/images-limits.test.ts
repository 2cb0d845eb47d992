import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { cleanUpload } from '../../../src/library/images/clean-upload'
import { MAX_PARTS } from '../../../src/transfer/reader/images/image'
import { join, repeat, store, u16, zeros } from '../../support/bytes'
import { CROWDED_IMAGES } from '../../support/images/crowded-images'
import { tryClean } from '../../support/images/image-structure'
import {
  blocks,
  chunk,
  gifFrame,
  gifScreen,
  jpeg,
  PNG_SIGNATURE,
  png,
  pngHeader,
  riff,
  riffChunk,
  segment,
  WEBP_DATA,
  webpFrame,
  webpHeader,
} from '../../support/images/pictures'

const MiB = 1_048_576

const pngOf = (width: number, height: number) =>
  join(PNG_SIGNATURE, pngHeader(width, height), chunk('IDAT', store('')), chunk('IEND'))

const gifOf = (width: number, height: number) => join(gifScreen(width, height), gifFrame(width, height), [0x3b])

it.each([pngOf, gifOf])('accepts an image of exactly 268 megapixels, but not with one row more: %o', (make) => {
  expect(tryClean(make(16_384, 16_384))).toMatchObject({ width: 16_384, height: 16_384 })
  expect(tryClean(make(16_384, 16_385))).toBe('TOO_MANY_PIXELS')
})

it.each(Object.entries(CROWDED_IMAGES))('accepts 20,000 parts, but not one more: %s', (_, make) => {
  expect(tryClean(make(MAX_PARTS))).toMatchObject({ bytes: expect.any(Uint8Array) })
  expect(tryClean(make(MAX_PARTS + 1))).toBe('IMAGE_TOO_COMPLEX')
})

describe('cleaning accepts', () => {
  const minute = 60 * 50
  const control = [0x21, 0xf9, 4, 0, 2, 0, 0, 0]
  const animation = join(webpHeader(2 + 16), riffChunk('ANIM', zeros(6)))
  const scan = join(segment(0xc4, [0], zeros(16)), segment(0xda, [1, 1, 0, 0, 63, 0]), repeat(1000, [1, 2, 0xff, 0xd0]))
  const frame = segment(0xc2, [8], u16(16, 24), [1, 1, 0x11, 0])
  const profile = repeat(255, segment(0xe2, 'ICC_PROFILE\0', [1, 255], zeros(30_000)))
  const extendedXmp = repeat(40, segment(0xe1, 'http://ns.adobe.com/xmp/extension/\0', zeros(65_000)))
  it.each([
    [
      'a GIF of a minute at 50 frames per second',
      join(gifScreen(4, 4), repeat(minute, join(control, gifFrame(4, 4))), [0x3b]),
    ],
    [
      'a GIF frame of 10 MiB',
      join(gifScreen(4, 4), gifFrame(4, 4).subarray(0, 11), blocks(new Uint8Array(10 * MiB - 50_000)), [0x3b]),
    ],
    [
      'a transparent WebP of a minute at 50 frames per second',
      riff(animation, repeat(minute, webpFrame(0, 0, WEBP_DATA.alpha))),
    ],
    [
      'a PNG of 10 MiB in chunks of 8 KiB',
      join(PNG_SIGNATURE, pngHeader(4, 1), repeat(1278, chunk('IDAT', zeros(8192))), chunk('IEND')),
    ],
    [
      'a progressive JPEG of 100 scans with restart markers',
      join([0xff, 0xd8], frame, repeat(100, scan), [0xff, 0xd9]),
    ],
    ['a JPEG with a large profile and extended XMP', jpeg({ extra: join(profile, extendedXmp) })],
  ])('%s', (_, bytes) => {
    expect(tryClean(bytes)).toMatchObject({ bytes: expect.any(Uint8Array) })
  })
})

describe('uploads', () => {
  const clean = (bytes: Uint8Array<ArrayBuffer>, network = 'a') => cleanUpload(env.READER, bytes, [network])

  it('are cleaned one at a time, with other work in between', async () => {
    const order: string[] = []
    const upload = async (network: string) => order.push((await clean(png(), network)).type)
    const other = scheduler.wait(5).then(() => order.push('other'))
    await Promise.all([upload('a'), upload('b'), other])
    expect(order).toEqual(['other', 'image/png', 'image/png'])
  })

  it('are cleaned after one that is refused', async () => {
    const damaged = clean(png().slice(0, -1))
    const next = clean(png())
    await expect(damaged).rejects.toMatchObject({ code: 'IMAGE_DAMAGED' })
    expect((await next).type).toBe('image/png')
  })

  it('are refused with Retry-After while 64 are waiting', { tags: ['slow'] }, async () => {
    const waiting = Array.from({ length: 65 }, () => clean(png()))
    const refusal = { code: 'TOO_MANY_REQUESTS', details: { headers: { 'Retry-After': '5' } } }
    await expect(clean(png())).rejects.toMatchObject(refusal)
    await Promise.all(waiting)
  })
})
