import { join } from '../bytes'

const BOUNDARY = 'file-form-boundary'
const HEADERS = 'Content-Disposition: form-data; name="file"; filename="a.png"\r\nContent-Type: image/png'

/** The Content-Type and body of a request that uploads a file as a browser's form does. */
export const toFileForm = (file: Uint8Array) => ({
  type: `multipart/form-data; boundary=${BOUNDARY}`,
  body: join(`--${BOUNDARY}\r\n${HEADERS}\r\n\r\n`, file, `\r\n--${BOUNDARY}--\r\n`),
})

const HEADER = 'Book Id,Title,Author,My Rating,Exclusive Shelf'
/** An export of Goodreads with a book of this title, and a row that fails, because it has only this author. */
export const toExport = (title: string, id = 81235, author = 'Nobody') =>
  new TextEncoder().encode(`${HEADER}\n${id},"${title}",Ana Ruiz,3,read\n,,"${author}",,\n`)

/** A GIF of one pixel. */
export const PIXEL = Uint8Array.fromBase64('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7')

/** A form with a file that the operation accepts. */
export const validForm = ({ template }: { template: string }) =>
  toFileForm(template === '/imports' ? toExport('Low Tide') : PIXEL)
