import type { Entry } from '../entries/entry'
import { decodeStrictly, guessEncoding } from './encoding'
import { isNotebook } from './formats/highlights/kindle-notebook'
import { sumUp } from './limits'
import { isObject } from './rows/values'

/** By the byte order mark. Without one, by the zero byte of the first character, which is ASCII in every known file. */
const utf16 = ([first, second]: Uint8Array) => {
  if ((first === 0xff && second === 0xfe) || (first && second === 0)) return 'utf-16le'
  if ((first === 0xfe && second === 0xff) || (first === 0 && second)) return 'utf-16be'
  return undefined
}

/** Sequences of UTF-8 beyond ASCII: valid ones, and bytes that are in none. A file may also contain U+FFFD itself. */
const countUtf8 = (text: string, bytes: Uint8Array) => {
  let [valid, replaced, written] = [0, 0, 0]
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === 0xfffd) replaced++
    else if (unit >= 0x80 && (unit & 0xfc00) !== 0xdc00) valid++
  }
  for (let at = bytes.indexOf(0xef); at !== -1; at = bytes.indexOf(0xef, at + 1)) {
    if (bytes[at + 1] === 0xbf && bytes[at + 2] === 0xbd) written++
  }
  return { valid, invalid: replaced - written }
}

/** In files of other encodings, at most a fifth of the sequences happens to be valid. */
const VALID_TO_INVALID = 4

/** As UTF-8 with some damaged bytes, or in another encoding that is guessed. */
const decodeOther = (bytes: Uint8Array) => {
  const utf8 = new TextDecoder().decode(bytes)
  const counts = countUtf8(utf8, bytes)
  if (counts.valid >= VALID_TO_INVALID * counts.invalid) return { text: utf8, encoding: 'utf-8' }
  const encoding = guessEncoding(bytes, counts)
  return { text: new TextDecoder(encoding).decode(bytes), encoding }
}

/** Whether files of the encoding are valid UTF-8, too: their characters are escape sequences. */
const isEscaped = (encoding?: string) => encoding !== undefined && new TextDecoder(encoding).encoding === 'iso-2022-jp'

/**
 * Decodes a file without its byte order mark: UTF-16, UTF-8 if it is valid, else `encoding`, else UTF-8 if nearly all
 * of it is valid, else a guess. Bytes that are no text become U+FFFD. `isDamaged`: whether there may be any.
 * @throws ImportFileError if `encoding` is needed, and cannot be guessed
 */
export const decodeText = (bytes: Uint8Array, encoding?: string) => {
  const wide = utf16(bytes)
  const utf8 = wide ? undefined : decodeStrictly(bytes, 'utf-8')
  const isOther = utf8 === undefined || isEscaped(encoding)
  const known = wide ?? (isOther ? encoding : 'utf-8')
  const { text, encoding: found } = known
    ? { text: (isOther ? undefined : utf8) ?? new TextDecoder(known).decode(bytes), encoding: known }
    : decodeOther(bytes)
  // The database cannot store NUL.
  return { text: text.replaceAll('\0', ''), encoding: found, isDamaged: utf8 === undefined && text.includes('\ufffd') }
}

const isDamaged = (value: unknown): boolean => {
  if (typeof value === 'string') return value.includes('\ufffd')
  if (Array.isArray(value)) return value.some(isDamaged)
  return isObject(value) && Object.values(value).some(isDamaged)
}

const MAX_DAMAGED = 20

/** Lists the columns of a row, or without a table the values of the entry, whose bytes were no text. */
export const reportDamage = (entry: Entry) => {
  const { cells, losses: _, ...values } = entry
  const all =
    cells.names.length > 0 ? cells.values.map((cell, at) => [cells.names[at] ?? '', cell]) : Object.entries(values)
  const damaged = all.filter(([, value]) => isDamaged(value))
  const losses = damaged.map(([field]) => ({ code: 'bad-bytes' as const, field: String(field) }))
  entry.losses.push(...sumUp(losses, MAX_DAMAGED))
}

const EXPORT_INSTEAD = 'Send the CSV, JSON or text file that the service exports.'
const IMAGE = `It is an image. ${EXPORT_INSTEAD}`
/** First characters of files, read as Latin-1. */
const UNSUPPORTED: [start: string, reason: string][] = [
  [
    'PK\x03\x04',
    'It is a ZIP archive, such as the answer to a privacy request, an Excel workbook or an EPUB. Unpack it or save it as CSV, and send the file with the list of books.',
  ],
  ['PK\x05\x06', 'It is an empty ZIP archive.'],
  [
    'SQLite format 3\0',
    'It is a SQLite database, such as those of Kobo, Apple Books or KOReader. Export the books or highlights as CSV, JSON or text first.',
  ],
  ['%PDF-', `It is a PDF. ${EXPORT_INSTEAD}`],
  ['\x1f\x8b', 'It is a gzip archive. Unpack it and send the file in it.'],
  ['7z\xbc\xaf\x27\x1c', 'It is a 7-Zip archive. Unpack it and send the file in it.'],
  ['Rar!', 'It is a RAR archive. Unpack it and send the file in it.'],
  ['\xd0\xcf\x11\xe0', 'It is an old Excel or Word document. Save it as CSV.'],
  ['\x89PNG', IMAGE],
  ['\xff\xd8\xff', IMAGE],
  ['GIF8', IMAGE],
  ['RIFF', IMAGE],
]
const UNSUPPORTED_TEXT: [start: RegExp, reason: string][] = [
  [/^<(?:!doctype html|html)/i, `It is a web page. ${EXPORT_INSTEAD}`],
  [/^<\?xml/i, `It is an XML file. ${EXPORT_INSTEAD}`],
]

/** Why a file of a known type cannot be imported. Undefined if it is supported. */
export const describeUnsupported = (bytes: Uint8Array) => {
  const start = String.fromCharCode(...bytes.subarray(0, 500))
  const text = start.replace(/^\xef\xbb\xbf/, '').trimStart()
  if (!text && start.length === bytes.length) return 'The file is empty.'
  if (text.startsWith('<') && isNotebook(new TextDecoder('latin1').decode(bytes.subarray(0, 20_000)))) return undefined
  return (UNSUPPORTED.find(([magic]) => start.startsWith(magic)) ??
    UNSUPPORTED_TEXT.find(([pattern]) => pattern.test(text)))?.[1]
}
