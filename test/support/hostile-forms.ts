import { join, type Part, repeat } from './bytes'
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

// One list for each kind of trick.
const NAMES = [
  ['../../../etc/passwd', '..\\..\\win.ini', '/etc/passwd', 'C:\\a.png', 'images/1/x.png', 'http://evil.example/a.png'],
  ['a.png\0.html', 'a.html', 'a.php.png', '.htaccess', 'a.svg', '<script>.png'],
  ['x'.repeat(10_000), '', ' ', 'con'],
  ["'; drop table books; --", '{{7*7}}.png', 'a.png"; name="other'],
  ['a\tb.png', '\xe2\x80\xae gnp.exe', '\xff\xfe.png', '%00.png', '%2e%2e%2f'],
].flat()
const named = () =>
  NAMES.map((name, at) =>
    form(`file name ${at}: ${name.slice(0, 40)}`, part(disposition(`name="file"; filename="${name}"`))),
  )

const TYPES = [
  ['text/html', 'image/svg+xml', 'application/x-php', 'multipart/mixed; boundary=b'],
  ['', 'image/png; charset=utf-7', 'x'.repeat(5_000)],
  ['X-Injected: yes', 'Content-Length: 1', 'Content-Transfer-Encoding: base64', 'Content-Encoding: gzip'].map(
    (header) => `image/png\r\n${header}`,
  ),
].flat()
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

const WHOLE = join(part(FILE), END)
const labelled = (name: string, type: string, body: Part = WHOLE): HostileForm => ({ name, type, body: join(body) })

const framed = () => [
  form('two files', part(FILE), part(FILE)),
  form('a file and a text of the same name', part(FILE), part(disposition('name="file"'), 'text')),
  form('a text and a file of the same name', part(disposition('name="file"'), 'text'), part(FILE)),
  form('a thousand other parts', repeat(1_000, part(disposition('name="x"'), 'y')), part(FILE)),
  form('a preamble', 'preamble\r\n', part(FILE)),
  form('a nested form', part(FILE, WHOLE)),
  form('line feeds for line ends', part(FILE, IMAGE, '\n')),
  form('the boundary inside the image', part(FILE, join(IMAGE, `\r\n--${BOUNDARY}`, IMAGE))),
  labelled('an epilogue', TYPE, join(WHOLE, 'epilogue'.repeat(100))),
  labelled('no final boundary', TYPE, part(FILE)),
  labelled('boundaries only', TYPE, `--${BOUNDARY}\r\n`.repeat(5_000)),
  labelled('a quoted boundary', `multipart/form-data; boundary="${BOUNDARY}"`),
  labelled('a different boundary', 'multipart/form-data; boundary=other'),
  labelled('two boundaries', `${TYPE}; boundary=other`),
  labelled('an empty boundary', 'multipart/form-data; boundary='),
  labelled('a boundary of 1,000 characters', `multipart/form-data; boundary=${'x'.repeat(1_000)}`),
  labelled('no boundary', 'multipart/form-data'),
  labelled('an upper-case type', `MULTIPART/FORM-DATA; BOUNDARY=${BOUNDARY}`),
  labelled('multipart/mixed', `multipart/mixed; boundary=${BOUNDARY}`),
  labelled('the image itself', 'image/png', IMAGE),
]

/** Malformed or malicious forms around a valid image, to be refused or stored under a generated name. */
export const hostileForms = (): HostileForm[] => [...named(), ...typed(), ...disposed(), ...framed()]
