import { join, repeat, u16, zeros } from '../bytes'
import {
  chunk,
  gifFrame,
  gifScreen,
  PNG_SIGNATURE,
  pngHeader,
  riff,
  riffChunk,
  segment,
  WEBP_DATA,
  webpFrame,
  webpHeader,
} from './pictures'

/** Valid images of a given number of frames, chunks or segments. */
export const CROWDED_IMAGES: Record<string, (parts: number) => Uint8Array<ArrayBuffer>> = {
  JPEG: (parts) => {
    const frame = segment(0xc0, [8], u16(16, 24), [1, 1, 0x11, 0])
    const scan = join(segment(0xda, [1, 1, 0, 0, 63, 0]), [1, 2, 3])
    return join([0xff, 0xd8], frame, repeat(parts - 3, segment(0xdd, [0, 0])), scan, [0xff, 0xd9])
  },
  PNG: (parts) => join(PNG_SIGNATURE, pngHeader(4, 1), repeat(parts - 2, chunk('IDAT')), chunk('IEND')),
  GIF: (parts) => join(gifScreen(4, 4), repeat(parts, gifFrame(4, 4)), [0x3b]),
  // Each frame is a chunk that contains another.
  WebP: (parts) => {
    const others = join(webpHeader(2), riffChunk('ANIM', zeros(6)), repeat((parts - 1) % 2, riffChunk('NOTE')))
    return riff(others, repeat(Math.floor((parts - 1) / 2), webpFrame(0, 0, WEBP_DATA.lossless)))
  },
}
