import { big, join, little, type Part } from './bytes'
import { exifBlock } from './camera'
import { accept, HTML, refuse, replace, SCRIPT, SVG, ZIP } from './hostile-payloads'
import {
  animatedWebp,
  blocks,
  gif,
  gifFrame,
  gifScreen,
  riff,
  riffChunk,
  webp,
  webpData,
  webpFrame,
  webpHeader,
} from './pictures'

const application = (name: string, ...parts: Part[]) => join([0x21, 0xff, 11], name, ...parts)

export const gifs = () => [
  accept('a GIF with a script in its comment', gif({ comment: SCRIPT })),
  accept('a GIF with HTML in XMP', gif({}, application('XMP DataXMP', blocks(HTML)))),
  accept('a GIF with HTML in an extension', gif({}, application('SCRIPTALERT', blocks(HTML)))),
  accept('a GIF with a script after its loop count', gif({}, application('NETSCAPE2.0', [3, 1, 0, 0], blocks(SCRIPT)))),
  accept('a GIF with a script for its loop count', gif({}, application('ANIMEXTS1.0', blocks(SCRIPT)))),
  accept('a GIF with 99 loop counts', gif({}, ...Array(99).fill(application('NETSCAPE2.0', blocks([1, 60, 115]))))),
  accept('a GIF with an unknown extension', gif({}, [0x21, 0x99], blocks(SVG))),
  accept('a GIF that is also a ZIP', gif({ trailing: ZIP })),
  refuse('a GIF without a frame', gifScreen(4, 4), [0x3b]),
  refuse('a GIF without an end', gifScreen(4, 4), gifFrame(4, 4)),
  refuse('a GIF of width 0', gifScreen(0, 4), gifFrame(4, 4), [0x3b]),
  refuse('a GIF of height 0', gifScreen(4, 0), gifFrame(4, 4), [0x3b]),
  refuse('a GIF of 65535 by 65535 pixels', gifScreen(65535, 65535), gifFrame(4, 4), [0x3b]),
  refuse('a GIF with a frame of 65535 by 65535 pixels', gifScreen(4, 4), gifFrame(65535, 65535), [0x3b]),
  refuse('a GIF with a distant frame', gifScreen(4, 4), gifFrame(4, 60000, 60000), [0x3b]),
  refuse('a GIF with a frame of width 0', gifScreen(4, 4), gifFrame(0, 4, 4), [0x3b]),
  refuse('a GIF of 1-byte blocks without end', gifScreen(4, 4), [0x21, 0xfe], new Uint8Array(65536).fill(1)),
  refuse('a GIF of 255-byte blocks without end', gifScreen(4, 4), [0x21, 0xfe], new Uint8Array(65536).fill(255)),
  refuse('a GIF with a truncated colour table', 'GIF89a', little(4, 2), little(4, 2), [0xf7, 0, 0], 'abc'),
  refuse('a GIF with a script for a control', gifScreen(4, 4), [0x21, 0xf9], blocks(SCRIPT), gifFrame(4, 4), [0x3b]),
  refuse('a GIF with text between its blocks', gifScreen(4, 4), SCRIPT, gifFrame(4, 4), [0x3b]),
]

const lossless = (width: number, height: number) =>
  riffChunk('VP8L', [0x2f], little(width - 1 + (height - 1) * 16384, 4), [0, 0])
const lossy = (width: number, height: number, tag = 0x10) =>
  riffChunk('VP8 ', little(tag, 3), '\x9d\x01\x2a', little(width, 2), little(height, 2), big(0, 8))

const animated = (...frames: Part[]) => riff(webpHeader(2), riffChunk('ANIM', big(0, 6)), ...frames)

export const webps = () => [
  refuse('an animated WebP with a frame right of it', animated(webpFrame(2, 0, webpData('lossy')))),
  refuse('a WebP with a chunk beyond its end', riff(webpHeader(0), webpData('lossy'), 'NOTE', little(99, 4))),
  accept('a WebP with HTML in an unknown chunk', webp({ comment: HTML })),
  accept(
    'a WebP with HTML for a profile',
    riff(webpHeader(32), riffChunk('ICCP', HTML.padEnd(300)), webpData('lossy')),
  ),
  accept('a WebP with HTML after its image', riff(webpData('lossless'), riffChunk('HTML', HTML))),
  accept('a WebP that is also a ZIP', webp({ trailing: ZIP })),
  accept(
    'a WebP with Exif but no Exif flag',
    riff(webpHeader(0), webpData('lossy'), riffChunk('EXIF', exifBlock(9), SVG)),
  ),
  accept('a WebP with a second image', riff(webpHeader(0), webpData('lossy'), lossless(16000, 16000))),
  accept('a WebP with frames but no animation flag', riff(webpHeader(0), riffChunk('ANMF', SVG), webpData('lossy'))),
  accept('an animated WebP with a script in its frames', animatedWebp({ comment: HTML }, riffChunk('NOTE', SCRIPT))),
  refuse('a WebP shorter than its RIFF size', replace(webp(), 4, little(9999, 4))),
  refuse('a WebP with a RIFF size of 4 GiB', replace(webp(), 4, little(0xffffffff, 4))),
  refuse('a WebP longer than its RIFF size', replace(webp(), 4, little(40, 4))),
  refuse('a WebP with a RIFF size of 0', replace(webp(), 4, little(0, 4))),
  refuse('a WebP with a chunk of 4 GiB', replace(webp(), 16, little(0xffffffff, 4))),
  refuse('a WebP without an image', riff(webpHeader(0))),
  refuse('a WebP with Exif only', riff(webpHeader(8), riffChunk('EXIF', exifBlock(6)))),
  refuse('a WebP whose canvas differs from its image', riff(webpHeader(0, 4000, 4000), webpData('lossy'))),
  refuse('a WebP of 16 million by 16 million pixels', riff(webpHeader(0, 2 ** 24, 2 ** 24), webpData('lossy'))),
  refuse('a lossless WebP of 16384 by 16384 pixels', riff(lossless(16384, 16384))),
  refuse('a lossy WebP of 16383 by 16383 pixels', riff(lossy(16383, 16383))),
  refuse('a lossy WebP of width 0', riff(lossy(0, 16))),
  refuse('a lossy WebP without a key frame', riff(lossy(24, 16, 0x11))),
  refuse('a lossless WebP of version 7', riff(riffChunk('VP8L', [0x2f], little(0xe0000000, 4), SCRIPT))),
  refuse('an animated WebP without frames', animated()),
  refuse('an animated WebP with a frame outside', animated(webpFrame(2, 2, webpData('lossy')))),
  refuse('an animated WebP with an SVG for a frame', animated(webpFrame(0, 0, SVG))),
  refuse('an animated WebP with nested frames', animated(webpFrame(0, 0, webpFrame(0, 0, webpData('lossy'))))),
]
