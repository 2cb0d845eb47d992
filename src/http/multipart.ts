// The platform's own reader copies every part, and what it copied is given back when the garbage is: too late for twenty
// uploads at once. This one only looks (RFC 7578; RFC 2046, 5.1).

/** A part of a form: `content` is a view of the body's bytes. */
export type FormPart = { name: string; isFile: boolean; content: Uint8Array<ArrayBuffer> }

const CR = 13
const MAX_HEAD_BYTES = 8192
const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i
const DISPOSITION = /^content-disposition:\s*form-data\b(.*)$/im
const NAME = /;\s*name=(?:"([^"]*)"|([^\s;"]+))/i
const FILE_NAME = /;\s*filename\*?=/i

const startsWith = (bytes: Uint8Array, at: number, text: string) => {
  for (let index = 0; index < text.length; index++) if (bytes[at + index] !== text.charCodeAt(index)) return false
  return true
}

/** Where a text that begins with CR stands; -1 where it does not. */
const find = (bytes: Uint8Array, from: number, text: string) => {
  let at = bytes.indexOf(CR, from)
  while (at !== -1 && !startsWith(bytes, at, text)) at = bytes.indexOf(CR, at + 1)
  return at
}

/** The parts of a multipart form; none of one that is malformed or cut off. */
export const readForm = (bytes: Uint8Array<ArrayBuffer>, contentType: string): FormPart[] => {
  const [, quoted, bare] = BOUNDARY.exec(contentType) ?? []
  const boundary = quoted ?? bare
  if (!boundary) return []
  const delimiter = `\r\n--${boundary}`
  const parts: FormPart[] = []
  // The first one may stand at the very beginning, without a line before it.
  const first = startsWith(bytes, 0, delimiter.slice(2)) ? -2 : find(bytes, 0, delimiter)
  let at = first === -1 ? -1 : first + delimiter.length
  while (at !== -1 && startsWith(bytes, at, '\r\n')) {
    const headEnd = find(bytes, at, '\r\n\r\n')
    const end = headEnd === -1 ? -1 : find(bytes, headEnd + 2, delimiter)
    if (end === -1 || headEnd - at > MAX_HEAD_BYTES) return []
    const head = new TextDecoder().decode(bytes.subarray(at + 2, headEnd))
    const disposition = DISPOSITION.exec(head)?.[1] ?? ''
    const [, quotedName, bareName] = NAME.exec(disposition) ?? []
    const name = quotedName ?? bareName
    if (name === undefined) return []
    parts.push({
      name,
      isFile: FILE_NAME.test(disposition),
      content: bytes.subarray(headEnd + 4, Math.max(end, headEnd + 4)),
    })
    at = end + delimiter.length
  }
  return at !== -1 && startsWith(bytes, at, '--') ? parts : []
}
