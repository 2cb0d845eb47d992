import { join, type Part } from './bytes'
import { png } from './pictures'

/** A request body and its Content-Type header. */
export type HostileForm = { name: string; type: string; body: Uint8Array<ArrayBuffer> }

const BOUNDARY = 'hostile'
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`
const IMAGE = png()

const part = (headers: Part, content: Part = IMAGE, end = '\r\n') =>
  join(`--${BOUNDARY}${end}`, headers, end, end, content, end)
const END = `--${BOUNDARY}--\r\n`
const disposition = (rest: string) => `Content-Disposition: form-data; ${rest}`
const FILE = disposition('name="file"; filename="a.png"')
const form = (name: string, ...parts: Part[]): HostileForm => ({ name, type: TYPE, body: join(...parts, END) })

const NAMES = [
  '../../../etc/passwd',
  '..\\..\\win.ini',
  '/etc/passwd',
  'C:\\a.png',
  'a.png\0.html',
  'a.html',
  'a.php.png',
  '.htaccess',
  'a.svg',
  'con',
  '',
  ' ',
  'x'.repeat(10_000),
  'a\tb.png',
  '<script>.png',
  "'; drop table books; --",
  '{{7*7}}.png',
  '\xe2\x80\xae gnp.exe',
  '\xff\xfe.png',
  'a.png"; name="other',
  '%00.png',
  '%2e%2e%2f',
  'images/1/x.png',
  'http://evil.example/a.png',
]
const named = () =>
  NAMES.map((name, at) =>
    form(`file name ${at}: ${name.slice(0, 40)}`, part(disposition(`name="file"; filename="${name}"`))),
  )

const TYPES = [
  'text/html',
  'image/svg+xml',
  'application/x-php',
  'multipart/mixed; boundary=b',
  '',
  'image/png; charset=utf-7',
  'x'.repeat(5_000),
  'image/png\r\nX-Injected: yes',
  'image/png\r\nContent-Length: 1',
  'image/png\r\nContent-Transfer-Encoding: base64',
  'image/png\r\nContent-Encoding: gzip',
]
const typed = () =>
  TYPES.map((type, at) =>
    form(`part header ${at}: ${JSON.stringify(type.slice(0, 40))}`, part(`${FILE}\r\nContent-Type: ${type}`)),
  )

const DISPOSITIONS = [
  '',
  'Content-Disposition: attachment; filename="a.png"',
  'Content-Disposition: form-data',
  'content-disposition:form-data;name=file;filename=a.png',
  disposition('filename="a.png"; name="file"'),
  disposition(`name="file"; filename*=utf-8''a%2Fb.png`),
  disposition('name="file"; name="other"; filename="a.png"'),
  disposition('name="FILE"; filename="a.png"'),
  disposition('name="file[]"; filename="a.png"'),
  disposition('name="__proto__"; filename="a.png"'),
  disposition('name="file\0"; filename="a.png"'),
  disposition('name="file"; filename=a.png; filename="b.png"'),
  `${FILE}\r\n${FILE}`,
  'X: 1\r\n'.repeat(500) + FILE,
]
const disposed = () => DISPOSITIONS.map((headers, at) => form(`disposition ${at}`, part(headers)))

const framed = (): HostileForm[] => [
  form('two files', part(FILE), part(FILE)),
  form('a file and a text of the same name', part(FILE), part(disposition('name="file"'), 'text')),
  form('a text and a file of the same name', part(disposition('name="file"'), 'text'), part(FILE)),
  form('a thousand other parts', ...Array(1_000).fill(part(disposition('name="x"'), 'y')), part(FILE)),
  form('a preamble', 'preamble\r\n', part(FILE)),
  form('a nested form', part(FILE, join(part(FILE), END))),
  form('line feeds for line ends', part(FILE, IMAGE, '\n')),
  form('the boundary inside the image', part(FILE, join(IMAGE, `\r\n--${BOUNDARY}`, IMAGE))),
  { name: 'an epilogue', type: TYPE, body: join(part(FILE), END, 'epilogue'.repeat(100)) },
  { name: 'no final boundary', type: TYPE, body: join(part(FILE)) },
  { name: 'boundaries only', type: TYPE, body: join(`--${BOUNDARY}\r\n`.repeat(5_000)) },
  { name: 'a quoted boundary', type: `multipart/form-data; boundary="${BOUNDARY}"`, body: join(part(FILE), END) },
  { name: 'a different boundary', type: 'multipart/form-data; boundary=other', body: join(part(FILE), END) },
  { name: 'two boundaries', type: `${TYPE}; boundary=other`, body: join(part(FILE), END) },
  { name: 'an empty boundary', type: 'multipart/form-data; boundary=', body: join(part(FILE), END) },
  {
    name: 'a boundary of 1,000 characters',
    type: `multipart/form-data; boundary=${'x'.repeat(1_000)}`,
    body: join(part(FILE), END),
  },
  { name: 'no boundary', type: 'multipart/form-data', body: join(part(FILE), END) },
  { name: 'an upper-case type', type: `MULTIPART/FORM-DATA; BOUNDARY=${BOUNDARY}`, body: join(part(FILE), END) },
  { name: 'multipart/mixed', type: `multipart/mixed; boundary=${BOUNDARY}`, body: join(part(FILE), END) },
  { name: 'the image itself', type: 'image/png', body: IMAGE },
]

/** Malformed or malicious forms around a valid image, to be refused or stored under a generated name. */
export const hostileForms = (): HostileForm[] => [...named(), ...typed(), ...disposed(), ...framed()]
