import { join, type Part, repeat } from '../bytes'
import { png } from '../images/pictures'

/** A request body, its Content-Type header, and the status of the answer: 201 if one readable file remains. */
type HostileForm = { name: string; type: string; body: Uint8Array<ArrayBuffer>; status: number }

const BOUNDARY = 'hostile'
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`
const IMAGE = png()

const part = (headers: Part, content: Part = IMAGE, end = '\r\n') =>
  join(`--${BOUNDARY}${end}`, headers, end, end, content, end)
const END = `--${BOUNDARY}--\r\n`
const disposition = (rest: string) => `Content-Disposition: form-data; ${rest}`
const FILE = disposition('name="file"; filename="a.png"')
const WHOLE = join(part(FILE), END)

const labelled = (name: string, type: string, body: Part = WHOLE) => ({ name, type, body: join(body), status: 201 })
const form = (name: string, ...parts: Part[]) => labelled(name, TYPE, join(...parts, END))
const unreadable = (of: HostileForm): HostileForm => ({ ...of, status: 400 })
const notForm = (of: HostileForm): HostileForm => ({ ...of, status: 415 })

// One list for each kind of trick.
const NAMES = [
  ['../../../etc/passwd', '..\\..\\win.ini', '/etc/passwd', 'C:\\a.png', 'images/1/x.png', 'http://evil.example/a.png'],
  ['a.png\0.html', 'a.html', 'a.php.png', '.htaccess', 'a.svg', '<script>.png'],
  ['', ' ', 'con'],
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

const UNREADABLE = [
  '',
  'Content-Disposition: attachment; filename="a.png"',
  'Content-Disposition: form-data',
  disposition('name="FILE"; filename="a.png"'),
  disposition('name="file[]"; filename="a.png"'),
  disposition('name="__proto__"; filename="a.png"'),
  disposition('name="file\0"; filename="a.png"'),
]
const READABLE = [
  'content-disposition:form-data;name=file;filename=a.png',
  disposition('filename="a.png"; name="file"'),
  disposition(`name="file"; filename*=utf-8''a%2Fb.png`),
  disposition('name="file"; name="other"; filename="a.png"'),
  disposition('name="file"; filename=a.png; filename="b.png"'),
  `${FILE}\r\n${FILE}`,
  'X: 1\r\n'.repeat(500) + FILE,
]
const disposed = () => [
  ...UNREADABLE.map((headers, at) => unreadable(form(`unreadable disposition ${at}`, part(headers)))),
  ...READABLE.map((headers, at) => form(`readable disposition ${at}`, part(headers))),
]

const framed = () => [
  unreadable(
    form('a file name of 10,000 characters', part(disposition(`name="file"; filename="${'x'.repeat(10_000)}"`))),
  ),
  unreadable(form('two files', part(FILE), part(FILE))),
  unreadable(form('a file and a text of the same name', part(FILE), part(disposition('name="file"'), 'text'))),
  unreadable(form('a text and a file of the same name', part(disposition('name="file"'), 'text'), part(FILE))),
  form('a thousand other parts', repeat(1_000, part(disposition('name="x"'), 'y')), part(FILE)),
  form('a preamble', 'preamble\r\n', part(FILE)),
  unreadable(form('a nested form', part(FILE, WHOLE))),
  unreadable(form('line feeds for line ends', part(FILE, IMAGE, '\n'))),
  unreadable(form('folded headers', part(FILE.replace('; name', ';\r\n name')))),
  unreadable(form('blanks after a boundary', `--${BOUNDARY} \t\r\n`, FILE, '\r\n\r\n', IMAGE, '\r\n')),
  unreadable(form('blanks around an equals sign', part(disposition('name = "file"; filename = "a.png"')))),
  unreadable(form('no chosen file', part(disposition('name="file"; filename=""'), ''))),
  unreadable(form('the boundary inside the image', part(FILE, join(IMAGE, `\r\n--${BOUNDARY}`, IMAGE)))),
  labelled('an epilogue', TYPE, join(WHOLE, 'epilogue'.repeat(100))),
  unreadable(labelled('no final boundary', TYPE, part(FILE))),
  unreadable(labelled('boundaries only', TYPE, `--${BOUNDARY}\r\n`.repeat(5_000))),
  labelled('a quoted boundary', `multipart/form-data; boundary="${BOUNDARY}"`),
  unreadable(labelled('a different boundary', 'multipart/form-data; boundary=other')),
  labelled('two boundaries', `${TYPE}; boundary=other`),
  unreadable(labelled('an empty boundary', 'multipart/form-data; boundary=')),
  unreadable(labelled('a boundary of 1,000 characters', `multipart/form-data; boundary=${'x'.repeat(1_000)}`)),
  unreadable(labelled('no boundary', 'multipart/form-data')),
  labelled('an upper-case type', `MULTIPART/FORM-DATA; BOUNDARY=${BOUNDARY}`),
  notForm(labelled('multipart/mixed', `multipart/mixed; boundary=${BOUNDARY}`)),
  notForm(labelled('the image itself', 'image/png', IMAGE)),
]

/** Malformed or malicious forms around a valid image, to be refused or stored under a generated name. */
export const hostileForms = (): HostileForm[] => [...named(), ...typed(), ...disposed(), ...framed()]
