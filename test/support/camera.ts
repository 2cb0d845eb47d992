import { big, join, little, type Part } from './bytes'

/** Text that occurs in camera metadata and must not be in a cleaned image. */
export const CAMERA_MARKS = [
  'GPSMARK',
  'CamMaker',
  'CamModel',
  'SN-4711',
  'Makernote',
  'Thumbnail',
  'Someone',
  'Munich',
]

type Entry = { tag: number; type: number; count: number; value: Uint8Array }

/** A TIFF block as a camera writes it, with a thumbnail, a maker note and GPS data. */
export const exifBlock = (orientation?: number, order: 'II' | 'MM' = 'MM') => {
  const uint = order === 'MM' ? big : little
  const text = (tag: number, value: string): Entry => ({
    tag,
    type: 2,
    count: value.length + 1,
    value: join(value, [0]),
  })
  const short = (tag: number, value: number): Entry => ({ tag, type: 3, count: 1, value: join(uint(value, 2)) })
  const long = (tag: number, value: number): Entry => ({ tag, type: 4, count: 1, value: join(uint(value, 4)) })
  const raw = (tag: number, value: Part): Entry => ({ tag, type: 7, count: value.length, value: join(value) })
  const place = (tag: number, ...values: number[]): Entry => {
    const fractions = values.flatMap((value) => [...uint(value, 4), ...uint(1, 4)])
    return { tag, type: 5, count: values.length, value: join(fractions) }
  }
  const directory = (at: number, entries: Entry[], next: (end: number) => number) => {
    let free = at + 2 + entries.length * 12 + 4
    const far: Uint8Array[] = []
    const near = entries.map(({ tag, type, count, value }) => {
      const head = join(uint(tag, 2), uint(type, 2), uint(count, 4))
      if (value.length <= 4) return join(head, value, new Uint8Array(4 - value.length))
      const start = free
      free += value.length
      far.push(value)
      return join(head, uint(start, 4))
    })
    return { bytes: join(uint(entries.length, 2), ...near, uint(next(free), 4), ...far), end: free }
  }
  const thumbnail = join([0xff, 0xd8], 'Thumbnail', [0xff, 0xd9])
  const camera = [
    text(0x9003, '2024:05:06 07:08:09'),
    raw(0x927c, 'Makernote of the maker'),
    raw(0x9286, 'ASCII\0\0\0Someone was here'),
    text(0xa431, 'SN-4711'),
  ]
  const positions = [
    text(1, 'N'),
    place(2, 48, 8, 14),
    text(3, 'E'),
    place(4, 11, 34, 31),
    raw(0x1b, 'ASCII\0\0\0GPSMARK'),
  ]
  const main = (exif: number, gps: number) => [
    text(0x010f, 'CamMaker'),
    text(0x0110, 'CamModel 3000'),
    ...(orientation === undefined ? [] : [short(0x0112, orientation)]),
    text(0x013b, 'Someone'),
    long(0x8769, exif),
    long(0x8825, gps),
  ]
  const exifAt = directory(8, main(0, 0), () => 0).end
  const exif = directory(exifAt, camera, () => 0)
  const gps = directory(exif.end, positions, () => 0)
  const small = (at: number) => [short(0x0103, 6), long(0x0201, at), long(0x0202, thumbnail.length)]
  const last = directory(gps.end, small(directory(gps.end, small(0), () => 0).end), () => 0)
  const first = directory(8, main(exifAt, exif.end), () => gps.end)
  const head = order === 'MM' ? 'MM\0*' : 'II*\0'
  return join(head, uint(8, 4), first.bytes, exif.bytes, gps.bytes, last.bytes, thumbnail)
}

/** An XMP packet with location, author and an orientation that viewers ignore. */
export const xmpPacket = () =>
  '<?xpacket begin="\xef\xbb\xbf" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">' +
  '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" ' +
  'xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Make="CamMaker" ' +
  'exif:GPSLatitude="48,8.2N" exif:GPSAreaInformation="GPSMARK" tiff:Orientation="3" tiff:Artist="Someone"/>' +
  '</rdf:RDF></x:xmpmeta><?xpacket end="w"?>'

/** IPTC records in a Photoshop resource block. */
export const iptcBlock = () => {
  const record = (number: number, value: string) => join([0x1c, 2, number], big(value.length, 2), value)
  const records = join(record(90, 'Munich'), record(80, 'Someone'))
  const pad = new Uint8Array(records.length % 2)
  return join('Photoshop 3.0\0', '8BIM', big(0x0404, 2), [0, 0], big(records.length, 4), records, pad)
}
