import { big, join, little, type Part, store } from './bytes'
import { exifBlock } from './camera'
import { accept, find, HTML, PDF, refuse, replace, SCRIPT, SVG, ZIP } from './hostile-payloads'
import { animatedPng, chunk, jpeg, PNG_SIGNATURE, png, pngHeader, segment } from './pictures'

const frame = (width: number, height: number, marker = 0xc0) =>
  segment(marker, [8], big(height, 2), big(width, 2), [1, 1, 0x11, 0])
const scan = join(segment(0xda, [1, 1, 0, 0, 63, 0]), [1, 2, 3, 0xff, 0xd9])
const SOI = [0xff, 0xd8]

// The first entry points to the directory itself.
const circularExif = () => {
  const block = exifBlock(6)
  return replace(block, 8 + 2, big(0x8769, 2), block.subarray(12, 18), block.subarray(4, 8))
}

const jpegWith = (marker: number, ...payload: Part[]) => jpeg({}, 'baseline', segment(marker, ...payload))

export const jpegs = () => [
  accept('a JPEG with HTML in a comment', jpeg({ comment: HTML })),
  accept(
    'a JPEG with HTML in every APPn',
    jpeg({}, 'baseline', ...[...Array(16)].map((_, index) => segment(0xe0 + index, HTML))),
  ),
  accept(
    'a JPEG with a script for a thumbnail',
    jpegWith(0xe0, 'JFIF\0', [1, 2, 0, 0, 1, 0, 1, 4, 4], SCRIPT.padEnd(48)),
  ),
  accept('a JPEG with HTML for a profile', jpegWith(0xe2, 'ICC_PROFILE\0', [1, 1], HTML.padEnd(200))),
  accept('a JPEG with an incomplete profile', jpegWith(0xe2, 'ICC_PROFILE\0', [2, 9], HTML)),
  accept('a JPEG with a script in Adobe flags', jpegWith(0xee, 'Adobe', [0, 100], '<scr', [1], 'ipt', SCRIPT)),
  accept('a JPEG with a script after the end', jpeg({ trailing: SCRIPT })),
  accept('a JPEG that is also a ZIP', jpeg({ trailing: ZIP })),
  accept('a JPEG that is also a PDF', jpeg({ comment: PDF, trailing: PDF })),
  accept('a JPEG with a DNL segment', jpegWith(0xdc, [0xff, 0xff])),
  accept('a JPEG with fill bytes', jpeg({}, 'baseline', new Uint8Array(999).fill(0xff), segment(0xfe, SCRIPT))),
  accept('a JPEG with circular Exif', jpegWith(0xe1, 'Exif\0\0', circularExif())),
  accept('a JPEG with Exif beyond its end', jpegWith(0xe1, 'Exif\0\0MM\0*', big(0xfffffff0, 4), 'GPSMARK')),
  accept('a JPEG with Exif at offset 0', jpegWith(0xe1, 'Exif\0\0II*\0', little(0, 4), 'GPSMARK')),
  accept('a JPEG with 65,535 Exif entries', jpegWith(0xe1, 'Exif\0\0MM\0*', big(8, 4), [255, 255], 'GPSMARK')),
  accept('a JPEG with an invalid orientation', jpeg({ orientation: 0x4750 })),
  refuse('a JPEG of SOI and EOI only', SOI, [0xff, 0xd9]),
  refuse('a JPEG without a frame', SOI, scan),
  refuse('a JPEG without a scan', SOI, frame(24, 16), [0xff, 0xd9]),
  refuse('a JPEG without an end', jpeg().subarray(0, -2)),
  refuse('a JPEG with a scan before its frame', SOI, scan.subarray(0, -2), frame(24, 16), [0xff, 0xd9]),
  refuse('a JPEG with two frames', SOI, frame(24, 16), frame(1, 1), scan),
  refuse('a JPEG of width 0', SOI, frame(0, 16), scan),
  refuse('a JPEG of height 0', SOI, frame(24, 0), scan),
  refuse('a JPEG of 65535 by 65535 pixels', SOI, frame(65535, 65535), scan),
  refuse('a lossless JPEG', SOI, frame(24, 16, 0xc3), scan),
  refuse('a hierarchical JPEG', SOI, frame(24, 16, 0xc5), scan),
  refuse('a JPEG segment of length 0', SOI, [0xff, 0xfe, 0, 0], frame(24, 16), scan),
  refuse('a JPEG segment of length 1', SOI, [0xff, 0xfe, 0, 1], frame(24, 16), scan),
  refuse('a JPEG segment beyond the end', SOI, frame(24, 16), [0xff, 0xfe, 0xff, 0xff], SCRIPT, scan),
  refuse('a JPEG with text between segments', SOI, SCRIPT, frame(24, 16), scan),
  refuse('a JPEG within a JPEG', SOI, frame(24, 16), jpeg()),
  refuse('a JPEG with HTML for a quantization table', SOI, segment(0xdb, HTML), frame(24, 16), scan),
  refuse(
    'a JPEG with an incomplete quantization table',
    SOI,
    segment(0xdb, [0], new Uint8Array(64), [0], SCRIPT),
    frame(24, 16),
    scan,
  ),
  refuse('a JPEG with two SOI markers', SOI, SOI, frame(24, 16), scan),
  refuse('a JPEG with HTML for a Huffman table', SOI, segment(0xc4, HTML), frame(24, 16), scan),
  refuse('a JPEG with a script after a frame header', SOI, segment(0xc0, [8, 0, 16, 0, 24, 1, 1, 17, 0], SCRIPT), scan),
  refuse('a JPEG of 65,536 fill bytes', SOI, new Uint8Array(65536).fill(0xff)),
  refuse('a JPEG of 9,999 TEM markers', SOI, ...Array(9999).fill([0xff, 0x01])),
]

const data = chunk('IDAT', store(new Uint8Array(17)))
const END = chunk('IEND')
const head = pngHeader(4, 1)

const pngWith = (...chunks: Part[]) => png({}, 'before', ...chunks)

export const pngs = () => [
  accept('a PNG with a script in a text', png({ comment: SCRIPT })),
  accept('a PNG with a script in a compressed text', pngWith(chunk('zTXt', 'Comment\0\0', store(SCRIPT)))),
  accept('a PNG with a script in an international text', pngWith(chunk('iTXt', 'a\0\0\0\0\0', SVG))),
  accept('a PNG with HTML after its end', png({ trailing: HTML })),
  accept('a PNG that is also a ZIP', png({ trailing: ZIP })),
  accept('a PNG with a PDF in a private chunk', pngWith(chunk('prVt', PDF))),
  accept('a PNG with a PDF in a critical chunk', pngWith(chunk('PWND', PDF))),
  accept('a PNG with a script for a profile name', pngWith(chunk('iCCP', SCRIPT, '\0\0', store('')))),
  accept('a PNG with HTML for a profile', pngWith(chunk('iCCP', 'a\0\0', HTML))),
  accept('a PNG with a script for a palette name', pngWith(chunk('sPLT', SCRIPT, '\0\x08'))),
  accept(
    'a PNG with an SVG in fixed-size chunks',
    pngWith(...['bKGD', 'sBIT', 'tRNS', 'hIST', 'cICP'].map((type) => chunk(type, SVG))),
  ),
  accept('a PNG with frames but no animation', pngWith(chunk('fcTL', SVG), chunk('fdAT', SVG))),
  accept('a PNG with Exif after its end', png({ trailing: chunk('eXIf', exifBlock(6)) })),
  accept('an animated PNG with texts between its frames', animatedPng({ comment: SCRIPT, exif: true })),
  refuse('a PNG signature', PNG_SIGNATURE),
  refuse('a PNG whose first chunk is not IHDR', PNG_SIGNATURE, chunk('gAMA', big(1, 4)), head, data, END),
  refuse('a PNG with a wrong data checksum', PNG_SIGNATURE, head, replace(data, data.length - 4, [1, 2, 3, 4]), END),
  refuse('a PNG with a wrong header checksum', PNG_SIGNATURE, replace(head, 8, big(9, 4)), data, END),
  refuse('a PNG with a chunk of 4 GiB', PNG_SIGNATURE, head, replace(data, 0, big(0xffffffff, 4)), END),
  refuse('a PNG with a chunk of 2 GiB', PNG_SIGNATURE, head, replace(data, 0, big(0x7fffffff, 4)), END),
  refuse(
    'a PNG with a script in its header',
    PNG_SIGNATURE,
    chunk('IHDR', big(4, 4), big(1, 4), [8, 2, 0, 0, 0], SCRIPT),
    data,
    END,
  ),
  refuse('a PNG with two headers', PNG_SIGNATURE, head, head, data, END),
  refuse('a PNG of width 0', PNG_SIGNATURE, pngHeader(0, 1), data, END),
  refuse('a PNG of height 0', PNG_SIGNATURE, pngHeader(1, 0), data, END),
  refuse('a PNG of 2 billion by 1 pixels', PNG_SIGNATURE, pngHeader(0x7fffffff, 1), data, END),
  refuse('a PNG of 4 billion by 4 billion pixels', PNG_SIGNATURE, pngHeader(0xffffffff, 0xffffffff), data, END),
  refuse('a PNG of bit depth 3', PNG_SIGNATURE, pngHeader(4, 1, 3, 2), data, END),
  refuse('a PNG of colour type 5', PNG_SIGNATURE, pngHeader(4, 1, 8, 5), data, END),
  refuse('a PNG of compression method 1', PNG_SIGNATURE, pngHeader(4, 1, 8, 2, 1, 0, 0), data, END),
  refuse('a PNG without image data', PNG_SIGNATURE, head, END),
  refuse('a PNG without an end', PNG_SIGNATURE, head, data),
  refuse('a palette PNG without a palette', PNG_SIGNATURE, pngHeader(4, 1, 8, 3), data, END),
  refuse('a PNG with a text between its data', PNG_SIGNATURE, head, data, chunk('tEXt', SCRIPT), data, END),
  refuse('an animated PNG with a frame outside', pngWithFrameOutside()),
]

function pngWithFrameOutside() {
  const bytes = animatedPng()
  const at = find(bytes, 'fcTL')
  const body = replace(bytes.slice(at, at + 30), 8, big(0xffffffff, 4))
  return replace(bytes, at - 4, chunk('fcTL', body.subarray(4)))
}
