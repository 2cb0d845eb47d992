import { type AvifOptions, avifFile, box, codedSize, fullBox } from './avif'
import { join, type Part, u16, u32, zeros } from './bytes'
import { exifBlock } from './camera'
import { accept, find, HTML, refuse, replace, SCRIPT } from './hostile-payloads'
import { avif, EVERYTHING } from './pictures'

const cleaned = (name: string, options: AvifOptions) => accept(name, avifFile(options))
const broken = (name: string, options: AvifOptions) => refuse(name, avifFile(options))

const patched = (name: string, type: string, offset: number, ...parts: Part[]) => {
  const bytes = avifFile({ exif: exifBlock(6) })
  return refuse(name, replace(bytes, find(bytes, type) + offset, ...parts))
}

const nested = (depth: number): Uint8Array => (depth === 0 ? join(SCRIPT) : box('meta', nested(depth - 1)))
const reference = (type: string, from: number, ...to: number[]) => ({
  references: [box(type, u16(from, to.length, ...to))],
})
const withGrid = (grid: Part, cells?: Part[]) => ({ isGrid: true, grid, cells })
const HUGE_CELLS = Array(5).fill(codedSize(7000, 7000))
const ANIMATED = { brands: ['avis', 'avif', 'avis'] }

const PROPERTIES = {
  pixi: '\0\0\0\0\x03\x08\x08\x08',
  colrnclx: '\0\x01\0\r\0\x06\x80',
  irot: '\0',
  imir: '\0',
  clli: '\0\0\0\0',
  colrprof: '',
}
const scriptsInProperties = () =>
  Object.entries(PROPERTIES).map(([name, value]) => {
    const property = box(name.slice(0, 4), name.slice(4), value, SCRIPT)
    return cleaned(`an AVIF with a script after ${name}`, { properties: [property] })
  })

export const avifs = () => [
  accept('an AVIF with Exif and XMP', avif({ exif: true, xmp: true })),
  accept('an AVIF with HTML for every name', avif({ comment: HTML })),
  cleaned('an AVIF with HTML in unknown boxes', { boxes: [box('uuid', '0123456789abcdef', HTML), box('html', HTML)] }),
  cleaned('an AVIF with HTML in its meta box', { tables: [box('xml ', HTML), box('uuid', HTML), box('free', HTML)] }),
  cleaned('an AVIF with a movie box', { boxes: [box('moov', box('mvhd', HTML), box('udta', HTML))] }),
  accept('an AVIF with metadata in idat', avif({ exif: true, xmp: true }, { isSmall: true })),
  cleaned('an AVIF with circular references', reference('dimg', 1, 1)),
  cleaned('an AVIF with references to nothing', reference('auxl', 99, 1)),
  cleaned('an AVIF with brands that spell a script', { brands: ['avif', '<scr', 'ipt>', 'avif', 'mif1'] }),
  cleaned('an AVIF with boxes nested 200 deep', { boxes: [box('abcd', nested(200))] }),
  accept('an animated AVIF with a location', avif(EVERYTHING, { isAnimated: true })),
  ...scriptsInProperties(),
  broken('an AVIF of width 0', { width: 0 }),
  broken('an AVIF of 4 billion by 4 billion pixels', { width: 0xffffffff, height: 0xffffffff }),
  broken('an AVIF of 10000 by 10000 pixels', { width: 10000, height: 10000 }),
  broken('an AVIF with data of 65536 by 65536 pixels', { data: codedSize(65536, 65536) }),
  broken('an AVIF with HTML for data', { data: HTML }),
  broken('an AVIF with empty data', { data: '' }),
  broken('an AVIF with data beyond the end', { shift: 0x7fffffff }),
  broken('an AVIF with data outside mdat', { shift: -200 }),
  broken('an AVIF with data of 4 GiB', { length: 0xffffffff }),
  broken('an AVIF with data one byte too long', { length: 49 }),
  broken('an AVIF with data of length 0', { length: 0 }),
  broken('an AVIF with a grid of 60000 by 60000', withGrid([0, 0, 0, 1, ...u16(60000, 60000)])),
  broken('an AVIF with a grid of missing cells', withGrid([0, 0, 255, 255, 0, 128, 0, 64])),
  broken('an AVIF with a grid of too many pixels', withGrid([0, 0, 0, 4, 1, 64, 0, 64], HUGE_CELLS)),
  broken('an AVIF with HTML for a grid', withGrid(HTML)),
  broken('an AVIF grid that contains itself', { isGrid: true, ...reference('dimg', 1, 1, 1) }),
  broken('an AVIF with an animation brand only', ANIMATED),
  broken('an AVIF with a corrupt animation', { ...ANIMATED, boxes: [box('moov', box('trak', SCRIPT))] }),
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
]
