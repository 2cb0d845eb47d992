import { big, join, type Part } from './bytes'

/** A malicious or malformed upload. `isPicture`: a valid image, accepted once its harmful parts are removed. */
export type Hostile = { name: string; bytes: Uint8Array<ArrayBuffer>; isPicture?: boolean }

export const SCRIPT = '<script>alert(document.cookie)</script>'
export const SVG = `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)">${SCRIPT}</svg>`
export const HTML = `<!doctype html><html><body>${SCRIPT}</body></html>`
export const PDF = '%PDF-1.7\n1 0 obj\n<< /OpenAction << /S /JavaScript /JS (app.alert(1)) >> >>\nendobj\n%%EOF'
export const ZIP = join('PK\x03\x04', big(0, 22), 'a', 'PK\x01\x02', big(0, 42), 'PK\x05\x06', big(0, 18))

export const refuse = (name: string, ...parts: Part[]): Hostile => ({ name, bytes: join(...parts) })
export const accept = (name: string, ...parts: Part[]): Hostile => ({ name, bytes: join(...parts), isPicture: true })

export const replace = (bytes: Uint8Array, at: number, ...parts: Part[]) => {
  const copy = bytes.slice()
  copy.set(join(...parts), at)
  return copy
}

export const find = (bytes: Uint8Array, ...parts: Part[]) => {
  const wanted = join(...parts)
  return bytes.findIndex((_, at) => wanted.every((byte, index) => bytes[at + index] === byte))
}
