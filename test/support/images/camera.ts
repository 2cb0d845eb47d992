import { big, join, little, type Part, u16, zeros } from '../bytes'

/** Text that occurs in camera metadata and must not be in a cleaned image. */
export const CAMERA_MARKS = 'GPSMARK CamMaker CamModel SN-4711 Makernote Thumbnail Someone Munich'.split(' ')

type Entry = [tag: number, type: number, count: number, value: Part]

/** A TIFF block as a camera writes it, with a thumbnail, a maker note and GPS data. */
export const exifBlock = (orientation?: number, order: 'II' | 'MM' = 'MM') => {
  const uint = order === 'MM' ? big : little
  const text = (tag: number, value: string): Entry => [tag, 2, value.length + 1, `${value}\0`]
  const short = (tag: number, value: number): Entry => [tag, 3, 1, uint(value, 2)]
  const long = (tag: number, value: number): Entry => [tag, 4, 1, uint(value, 4)]
  const raw = (tag: number, value: string): Entry => [tag, 7, value.length, value]
  const place = (tag: number, ...values: number[]): Entry => {
    const fractions = values.flatMap((value) => [...uint(value, 4), ...uint(1, 4)])
    return [tag, 5, values.length, fractions]
  }
  // Values of more than 4 bytes follow the entries.
  const directory = (at: number, entries: Entry[], next = 0) => {
    const far: Part[] = []
    const near = entries.map(([tag, type, count, value]) => {
      const start = at + 2 + entries.length * 12 + 4 + join(...far).length
      if (value.length > 4) far.push(value)
      const field = value.length > 4 ? uint(start, 4) : join(value, zeros(4 - value.length))
      return join(uint(tag, 2), uint(type, 2), uint(count, 4), field)
    })
    return join(uint(entries.length, 2), ...near, uint(next, 4), ...far)
  }
  const main = (exif: number, gps: number) => [
    text(0x010f, 'CamMaker'),
    text(0x0110, 'CamModel 3000'),
    ...(orientation === undefined ? [] : [short(0x0112, orientation)]),
    text(0x013b, 'Someone'),
    long(0x8769, exif),
    long(0x8825, gps),
  ]
  const camera = [
    text(0x9003, '2024:05:06 07:08:09'),
    raw(0x927c, 'Makernote of the maker'),
    raw(0x9286, 'ASCII\0\0\0Someone was here'),
    text(0xa431, 'SN-4711'),
  ]
  const position = [text(1, 'N'), place(2, 48, 8, 14), text(3, 'E'), place(4, 11, 34, 31)]
  const thumbnail = join([0xff, 0xd8], 'Thumbnail', [0xff, 0xd9])
  const preview = (at: number) => [short(0x0103, 6), long(0x0201, at), long(0x0202, thumbnail.length)]

  const exifAt = 8 + directory(8, main(0, 0)).length
  const exif = directory(exifAt, camera)
  const gpsAt = exifAt + exif.length
  const gps = directory(gpsAt, [...position, raw(0x1b, 'ASCII\0\0\0GPSMARK')])
  const previewAt = gpsAt + gps.length
  const thumbnailAt = previewAt + directory(previewAt, preview(0)).length
  const first = directory(8, main(exifAt, gpsAt), previewAt)
  const last = directory(previewAt, preview(thumbnailAt))
  return join(order, uint(42, 2), uint(8, 4), first, exif, gps, last, thumbnail)
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
  const record = (number: number, value: string) => join([0x1c, 2, number], u16(value.length), value)
  const records = join(record(90, 'Munich'), record(80, 'Someone'))
  const pad = zeros(records.length % 2)
  return join('Photoshop 3.0\0', '8BIM', u16(0x0404), [0, 0], big(records.length, 4), records, pad)
}
