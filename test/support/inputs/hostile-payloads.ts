import { Buffer } from 'node:buffer'
import { join, type OptionalPart, type Part, zeros } from '../bytes'

/** A malicious or malformed upload, and the status of the answer: 201 if it is a valid image without its harmful parts. */
export type Hostile = { name: string; bytes: Uint8Array<ArrayBuffer>; status: 201 | 413 | 415 }

export const SCRIPT = '<script>alert(document.cookie)</script>'
export const SVG = `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)">${SCRIPT}</svg>`
export const HTML = `<!doctype html><html><body>${SCRIPT}</body></html>`
export const PDF = '%PDF-1.7\n1 0 obj\n<< /OpenAction << /S /JavaScript /JS (app.alert(1)) >> >>\nendobj\n%%EOF'
export const ZIP = join('PK\x03\x04', zeros(22), 'a', 'PK\x01\x02', zeros(42), 'PK\x05\x06', zeros(18))

const answeredWith =
  (status: Hostile['status']) =>
  (name: string, ...parts: Part[]): Hostile => ({ name, bytes: join(...parts), status })
export const accept = answeredWith(201)
export const refuse = answeredWith(415)
/** An image that is refused for its number of pixels or parts. */
export const refuseSize = answeredWith(413)

export const replace = (bytes: Uint8Array, at: number, ...parts: OptionalPart[]) => {
  const copy = bytes.slice()
  copy.set(join(...parts), at)
  return copy
}

export const find = (bytes: Uint8Array, text: string) => Buffer.from(bytes).indexOf(text)
