import { join, little, type Part, repeat, store, u16, u32, zeros } from '../bytes'
import { accept, find, HTML, PDF, refuse, refuseSize, replace, SCRIPT, SVG } from '../inputs/hostile-payloads'
import { exifBlock } from './camera'
import {
  animatedPng,
  animatedWebp,
  application,
  blocks,
  chunk,
  gif,
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
  webp,
  webpFrame,
  webpHeader,
} from './pictures'

const frame = (width: number, height: number, marker = 0xc0) =>
  segment(marker, [8], u16(height, width), [1, 1, 0x11, 0])
const FRAME = frame(24, 16)
const SCAN = join(segment(0xda, [1, 1, 0, 0, 63, 0]), [1, 2, 3, 0xff, 0xd9])
const SOI = [0xff, 0xd8]
const EOI = [0xff, 0xd9]

// The first entry points to the directory itself.
const circularExif = () => {
  const block = exifBlock(6)
  return replace(block, 8 + 2, u16(0x8769), block.subarray(12, 18), block.subarray(4, 8))
}

const jpegWith = (marker: number, ...payload: Part[]) => jpeg({ extra: segment(marker, ...payload) })
const jpegOf = (...parts: Part[]) => join(SOI, ...parts, SCAN)
const htmlInEveryApp = () => join(...Array.from({ length: 16 }, (_, index) => segment(0xe0 + index, HTML)))

export const jpegs = () => [
  accept('a JPEG with HTML in a comment', jpeg({ comment: HTML })),
  accept('a JPEG with HTML in every APPn', jpeg({ extra: htmlInEveryApp() })),
  accept(
    'a JPEG with a script for a thumbnail',
    jpegWith(0xe0, 'JFIF\0', [1, 2, 0, 0, 1, 0, 1, 4, 4], SCRIPT.padEnd(48)),
  ),
  accept('a JPEG with HTML for a profile', jpegWith(0xe2, 'ICC_PROFILE\0', [1, 1], HTML.padEnd(200))),
  accept('a JPEG with an incomplete profile', jpegWith(0xe2, 'ICC_PROFILE\0', [2, 9], HTML)),
  accept('a JPEG with a script in Adobe flags', jpegWith(0xee, 'Adobe', [0, 100], '<scr', [1], 'ipt', SCRIPT)),
  accept('a JPEG that is also a PDF', jpeg({ comment: PDF, trailing: PDF })),
  accept('a JPEG with a DNL segment', jpegWith(0xdc, [0xff, 0xff])),
  accept('a JPEG with fill bytes', jpeg({ extra: join(repeat(999, [0xff]), segment(0xfe, SCRIPT)) })),
  accept('a JPEG with circular Exif', jpegWith(0xe1, 'Exif\0\0', circularExif())),
  accept('a JPEG with Exif beyond its end', jpegWith(0xe1, 'Exif\0\0MM\0*', u32(0xfffffff0), 'GPSMARK')),
  accept('a JPEG with Exif at offset 0', jpegWith(0xe1, 'Exif\0\0II*\0', u32(0), 'GPSMARK')),
  accept('a JPEG with 65,535 Exif entries', jpegWith(0xe1, 'Exif\0\0MM\0*', u32(8), [255, 255], 'GPSMARK')),
  accept('a JPEG with an invalid orientation', jpeg({ orientation: 0x4750 })),
  refuse('a JPEG of SOI and EOI only', SOI, EOI),
  refuse('a JPEG without a frame', SOI, SCAN),
  refuse('a JPEG without a scan', SOI, FRAME, EOI),
  accept('a JPEG without an end', jpeg().subarray(0, -2)),
  accept('a JPEG that ends after a byte of its scan', SOI, FRAME, SCAN.subarray(0, -4)),
  accept('a progressive JPEG that ends in a later table', jpegOf(frame(24, 16, 0xc2)).subarray(0, -2), [0xff, 0xc4, 0]),
  refuse('a JPEG that ends before its scan', SOI, FRAME, SCAN.subarray(0, -5)),
  refuse('a JPEG with a nested JPEG for an end', SOI, FRAME, SCAN.subarray(0, -2), jpeg()),
  accept('a JPEG of 8160 by 6144 pixels', jpegOf(frame(8160, 6144))),
  accept('a JPEG of 12000 by 9000 pixels', jpegOf(frame(12000, 9000))),
  refuse('a JPEG with a scan before its frame', SOI, SCAN.subarray(0, -2), FRAME, EOI),
  refuse('a JPEG with two frames', jpegOf(FRAME, frame(1, 1))),
  refuse('a JPEG of width 0', jpegOf(frame(0, 16))),
  refuse('a JPEG of height 0', jpegOf(frame(24, 0))),
  refuseSize('a JPEG of 65535 by 65535 pixels', jpegOf(frame(65535, 65535))),
  refuse('a lossless JPEG', jpegOf(frame(24, 16, 0xc3))),
  refuse('a hierarchical JPEG', jpegOf(frame(24, 16, 0xc5))),
  refuse('a JPEG segment of length 0', jpegOf([0xff, 0xfe, 0, 0], FRAME)),
  refuse('a JPEG segment of length 1', jpegOf([0xff, 0xfe, 0, 1], FRAME)),
  refuse('a JPEG segment beyond the end', jpegOf(FRAME, [0xff, 0xfe, 0xff, 0xff], SCRIPT)),
  refuse('a JPEG with text between segments', jpegOf(SCRIPT, FRAME)),
  refuse('a JPEG within a JPEG', SOI, FRAME, jpeg()),
  refuse('a JPEG with HTML for a quantization table', jpegOf(segment(0xdb, HTML), FRAME)),
  refuse('a JPEG with an incomplete quantization table', jpegOf(segment(0xdb, zeros(66), SCRIPT), FRAME)),
  refuse('a JPEG with two SOI markers', jpegOf(SOI, FRAME)),
  refuse('a JPEG with HTML for a Huffman table', jpegOf(segment(0xc4, HTML), FRAME)),
  refuse('a JPEG with a script after a frame header', jpegOf(segment(0xc0, [8, 0, 16, 0, 24, 1, 1, 17, 0], SCRIPT))),
  refuse('a JPEG of 65,536 fill bytes', SOI, repeat(65_536, [0xff])),
  refuse('a JPEG of 9,999 TEM markers', SOI, repeat(9_999, [0xff, 0x01])),
  refuseSize('a JPEG of 50,000 empty comments', jpeg({ extra: repeat(50_000, segment(0xfe)) })),
]

const DATA = chunk('IDAT', store(zeros(17)))
const END = chunk('IEND')
const HEAD = pngHeader(4, 1)

const pngOf = (...chunks: Part[]) => join(PNG_SIGNATURE, ...chunks)
const pngWith = (type: string, ...content: Part[]) => png({ extra: chunk(type, ...content) })
const svgChunks = (...types: string[]) => join(...types.map((type) => chunk(type, SVG)))

const pngWithFrameOutside = () => {
  const bytes = animatedPng()
  const at = find(bytes, 'fcTL')
  const body = replace(bytes.slice(at + 4, at + 30), 12, u32(1))
  return replace(bytes, at - 4, chunk('fcTL', body))
}

export const pngs = () => [
  accept('a PNG with a script in a text', png({ comment: SCRIPT })),
  accept('a PNG with a script in a compressed text', pngWith('zTXt', 'Comment\0\0', store(SCRIPT))),
  accept('a PNG with a script in an international text', pngWith('iTXt', 'a\0\0\0\0\0', SVG)),
  accept('a PNG with a PDF in a private chunk', pngWith('prVt', PDF)),
  accept('a PNG with a PDF in a critical chunk', pngWith('PWND', PDF)),
  accept('a PNG with a script for a profile name', pngWith('iCCP', SCRIPT, '\0\0', store(''))),
  accept('a PNG with HTML for a profile', pngWith('iCCP', 'a\0\0', HTML)),
  accept('a PNG with a script for a palette name', pngWith('sPLT', SCRIPT, '\0\x08')),
  accept('a PNG with an SVG in fixed-size chunks', png({ extra: svgChunks('bKGD', 'sBIT', 'tRNS', 'hIST', 'cICP') })),
  accept('a PNG with frames but no animation', png({ extra: svgChunks('fcTL', 'fdAT') })),
  accept('an animated PNG with texts between its frames', animatedPng({ comment: SCRIPT, exif: true })),
  refuse('a PNG signature', PNG_SIGNATURE),
  refuse('a PNG whose first chunk is not IHDR', pngOf(chunk('gAMA', u32(1)), HEAD, DATA, END)),
  refuse('a PNG with a wrong data checksum', pngOf(HEAD, replace(DATA, DATA.length - 4, [1, 2, 3, 4]), END)),
  refuse('a PNG with a wrong header checksum', pngOf(replace(HEAD, 8, u32(9)), DATA, END)),
  refuse('a PNG with a chunk of 4 GiB', pngOf(HEAD, replace(DATA, 0, u32(0xffffffff)), END)),
  refuse('a PNG with a chunk of 2 GiB', pngOf(HEAD, replace(DATA, 0, u32(0x7fffffff)), END)),
  refuse('a PNG with a script in its header', pngOf(chunk('IHDR', u32(4, 1), [8, 2, 0, 0, 0], SCRIPT), DATA, END)),
  refuse('a PNG with two headers', pngOf(HEAD, HEAD, DATA, END)),
  refuse('a PNG of width 0', pngOf(pngHeader(0, 1), DATA, END)),
  refuse('a PNG of height 0', pngOf(pngHeader(1, 0), DATA, END)),
  refuseSize('a PNG of 2 billion by 1 pixels', pngOf(pngHeader(0x7fffffff, 1), DATA, END)),
  refuseSize('a PNG of 4 billion by 4 billion pixels', pngOf(pngHeader(0xffffffff, 0xffffffff), DATA, END)),
  accept('a PNG of 268,435,456 pixels', pngOf(pngHeader(16_384 ** 2, 1), DATA, END)),
  refuseSize('a PNG of 268,435,457 pixels', pngOf(pngHeader(16_384 ** 2 + 1, 1), DATA, END)),
  refuse('a PNG of bit depth 3', pngOf(pngHeader(4, 1, 3, 2), DATA, END)),
  refuse('a PNG of colour type 5', pngOf(pngHeader(4, 1, 8, 5), DATA, END)),
  refuse('a PNG of compression method 1', pngOf(pngHeader(4, 1, 8, 2, 1), DATA, END)),
  refuse('a PNG without image data', pngOf(HEAD, END)),
  refuse('a PNG without an end', pngOf(HEAD, DATA)),
  refuse('a palette PNG without a palette', pngOf(pngHeader(4, 1, 8, 3), DATA, END)),
  refuse('a PNG with a text between its data', pngOf(HEAD, DATA, chunk('tEXt', SCRIPT), DATA, END)),
  refuse('an animated PNG with a frame outside', pngWithFrameOutside()),
  refuseSize('a PNG of 20,000 empty texts', png({ extra: repeat(20_000, chunk('tEXt')) })),
]

const [GIF_SCREEN, GIF_FRAME, GIF_END] = [gifScreen(4, 4), gifFrame(4, 4), [0x3b]]
const gifWith = (name: string, ...content: Part[]) => gif({ extra: application(name, ...content) })

export const gifs = () => [
  accept('a GIF with a script in its comment', gif({ comment: SCRIPT })),
  accept('a GIF with HTML in XMP', gifWith('XMP DataXMP', blocks(HTML))),
  accept('a GIF with HTML in an extension', gifWith('SCRIPTALERT', blocks(HTML))),
  accept('a GIF with a script after its loop count', gifWith('NETSCAPE2.0', [3, 1, 0, 0], blocks(SCRIPT))),
  accept('a GIF with a script for its loop count', gifWith('ANIMEXTS1.0', blocks(SCRIPT))),
  accept('a GIF with 99 loop counts', gif({ extra: repeat(99, application('NETSCAPE2.0', blocks([1, 60, 115]))) })),
  accept('a GIF with an unknown extension', gif({ extra: join([0x21, 0x99], blocks(SVG)) })),
  refuse('a GIF without a frame', GIF_SCREEN, GIF_END),
  accept('a GIF without an end', GIF_SCREEN, GIF_FRAME),
  accept('a GIF that ends in a comment', GIF_SCREEN, GIF_FRAME, [0x21, 0xfe], [99, ...zeros(9)]),
  accept('a GIF that ends in its second frame', GIF_SCREEN, GIF_FRAME, GIF_FRAME.subarray(0, -1)),
  refuse('a GIF that ends in its first frame', GIF_SCREEN, GIF_FRAME.subarray(0, -1)),
  refuse('a GIF of width 0', gifScreen(0, 4), GIF_FRAME, GIF_END),
  refuse('a GIF of height 0', gifScreen(4, 0), GIF_FRAME, GIF_END),
  refuseSize('a GIF of 65535 by 65535 pixels', gifScreen(65535, 65535), GIF_FRAME, GIF_END),
  refuseSize('a GIF with a frame of 65535 by 65535 pixels', GIF_SCREEN, gifFrame(65535, 65535), GIF_END),
  refuseSize('a GIF with a distant frame', GIF_SCREEN, gifFrame(4, 60000, 60000), GIF_END),
  refuse('a GIF with a frame of width 0', GIF_SCREEN, gifFrame(0, 4, 4), GIF_END),
  refuse('a GIF of 1-byte blocks without end', GIF_SCREEN, [0x21, 0xfe], repeat(65_536, [1])),
  refuse('a GIF of 255-byte blocks without end', GIF_SCREEN, [0x21, 0xfe], repeat(65_536, [255])),
  refuse('a GIF with a truncated colour table', 'GIF89a', little(4, 2), little(4, 2), [0xf7, 0, 0], 'abc'),
  refuse('a GIF with a script for a control', GIF_SCREEN, [0x21, 0xf9], blocks(SCRIPT), GIF_FRAME, GIF_END),
  refuse('a GIF with text between its blocks', GIF_SCREEN, SCRIPT, GIF_FRAME, GIF_END),
  refuseSize('a GIF of 50,000 empty comments', gif({ extra: repeat(50_000, [0x21, 0xfe, 0]) })),
]

const lossless = (width: number, height: number) =>
  riffChunk('VP8L', [0x2f], little(width - 1 + (height - 1) * 16384, 4), [0, 0])
const lossy = (width: number, height: number, tag = 0x10) =>
  riffChunk('VP8 ', little(tag, 3), '\x9d\x01\x2a', little(width, 2), little(height, 2), zeros(8))

const LOSSY = WEBP_DATA.lossy
const extended = (...chunks: Part[]) => riff(webpHeader(0), ...chunks)
const animated = (...frames: Part[]) => riff(webpHeader(2), riffChunk('ANIM', zeros(6)), ...frames)

export const webps = () => [
  refuse('an animated WebP with a frame right of it', animated(webpFrame(2, 0, LOSSY))),
  refuse('a WebP with a chunk beyond its end', extended(LOSSY, 'NOTE', little(99, 4))),
  accept('a WebP with HTML in an unknown chunk', webp({ comment: HTML })),
  accept('a WebP with HTML for a profile', riff(webpHeader(32), riffChunk('ICCP', HTML.padEnd(300)), LOSSY)),
  accept('a WebP with HTML after its image', riff(WEBP_DATA.lossless, riffChunk('HTML', HTML))),
  accept('a WebP with Exif but no Exif flag', extended(LOSSY, riffChunk('EXIF', exifBlock(9), SVG))),
  accept('a WebP with a second image', extended(LOSSY, lossless(16000, 16000))),
  accept('a WebP with frames but no animation flag', extended(riffChunk('ANMF', SVG), LOSSY)),
  accept('an animated WebP with a script in its frames', animatedWebp({ comment: HTML }, riffChunk('NOTE', SCRIPT))),
  refuse('a WebP shorter than its RIFF size', replace(webp(), 4, little(9999, 4))),
  refuse('a WebP with a RIFF size of 4 GiB', replace(webp(), 4, little(0xffffffff, 4))),
  refuse('a WebP longer than its RIFF size', replace(webp(), 4, little(40, 4))),
  refuse('a WebP with a RIFF size of 0', replace(webp(), 4, little(0, 4))),
  refuse('a WebP with a chunk of 4 GiB', replace(webp(), 16, little(0xffffffff, 4))),
  refuse('a WebP without an image', extended()),
  refuse('a WebP with Exif only', riff(webpHeader(8), riffChunk('EXIF', exifBlock(6)))),
  refuse('a WebP whose canvas differs from its image', riff(webpHeader(0, 4000, 4000), LOSSY)),
  refuseSize('a WebP of 16 million by 16 million pixels', riff(webpHeader(0, 2 ** 24, 2 ** 24), LOSSY)),
  accept('a lossless WebP of 16384 by 16384 pixels', riff(lossless(16384, 16384))),
  accept('a lossy WebP of 16383 by 16383 pixels', riff(lossy(16383, 16383))),
  refuse('a lossy WebP of width 0', riff(lossy(0, 16))),
  refuse('a lossy WebP without a key frame', riff(lossy(24, 16, 0x11))),
  refuse('a lossless WebP of version 7', riff(riffChunk('VP8L', [0x2f], little(0xe0000000, 4), SCRIPT))),
  refuse('an animated WebP without frames', animated()),
  refuse('an animated WebP with a frame outside', animated(webpFrame(2, 2, LOSSY))),
  refuse('an animated WebP with an SVG for a frame', animated(webpFrame(0, 0, SVG))),
  refuse('an animated WebP with nested frames', animated(webpFrame(0, 0, webpFrame(0, 0, LOSSY)))),
  refuseSize('a WebP of 50,000 chunks', extended(repeat(50_000, riffChunk('abcd')), LOSSY)),
]
