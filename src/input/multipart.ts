// RFC 7578, and RFC 2046, section 5.1. Why not the platform's formData(): docs/decisions/0014-own-multipart-reader.md.

/** A part of a form; `fileName` is undefined if it is not a file. `content` is a view of the body, not a copy. */
export type FormPart = { name: string; fileName: string | undefined; content: Uint8Array<ArrayBuffer> }

const CR = 13
const MAX_HEADER_BYTES = 8192
const MAX_PARTS = 2000
const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i
const DISPOSITION = /^content-disposition:\s*form-data\b(.*)$/im
const NAME = /;\s*name=(?:"([^"]*)"|([^\s;"]+))/i
const FILE_NAME = /;\s*filename\*?=(?:"([^"]*)|([^\s;"]*))/i

const startsWith = (bytes: Uint8Array, at: number, text: string) => {
  for (let index = 0; index < text.length; index++) if (bytes[at + index] !== text.charCodeAt(index)) return false
  return true
}

/** The position of a text that begins with CR, or -1. */
const find = (bytes: Uint8Array, from: number, text: string) => {
  let at = bytes.indexOf(CR, from)
  while (at !== -1 && !startsWith(bytes, at, text)) at = bytes.indexOf(CR, at + 1)
  return at
}

/** Reads the parts of a form. Returns undefined when it is malformed, cut off, or has more than 2,000 parts. */
export const readForm = (bytes: Uint8Array<ArrayBuffer>, contentType: string): FormPart[] | undefined => {
  const [, quoted, unquoted] = BOUNDARY.exec(contentType) ?? []
  const boundary = quoted ?? unquoted
  if (!boundary) return undefined
  const delimiter = `\r\n--${boundary}`
  const parts: FormPart[] = []
  // The first delimiter may stand at the start of the body, without its line break.
  const first = startsWith(bytes, 0, delimiter.slice(2)) ? -2 : find(bytes, 0, delimiter)
  let at = first === -1 ? -1 : first + delimiter.length
  while (at !== -1 && startsWith(bytes, at, '\r\n')) {
    const headersEnd = find(bytes, at, '\r\n\r\n')
    const end = headersEnd === -1 ? -1 : find(bytes, headersEnd + 2, delimiter)
    if (end === -1 || headersEnd - at > MAX_HEADER_BYTES || parts.length === MAX_PARTS) return undefined
    const headers = new TextDecoder().decode(bytes.subarray(at + 2, headersEnd))
    const disposition = DISPOSITION.exec(headers)?.[1] ?? ''
    const [, quotedName, unquotedName] = NAME.exec(disposition) ?? []
    const name = quotedName ?? unquotedName
    if (name === undefined) return undefined
    const [, quotedFileName, unquotedFileName] = FILE_NAME.exec(disposition) ?? []
    parts.push({
      name,
      fileName: quotedFileName ?? unquotedFileName,
      content: bytes.subarray(headersEnd + 4, Math.max(end, headersEnd + 4)),
    })
    at = end + delimiter.length
  }
  return at !== -1 && startsWith(bytes, at, '--') ? parts : undefined
}
