import type { Context } from 'hono'
import type { App } from '../../../env'
import { ApiError, fieldError } from '../../../errors'
import { annotate } from '../../../http/description/route-metadata'
import { mediaTypeOf, parseJson } from '../../../input/body'
import type { FormPart } from '../../../input/multipart'
import { bodyValidator, checkFields, fileMissing, readParts, type Validator } from '../../../input/validate'
import { ImportMaps, MAX_FILE_BYTES, MAX_MAP_BYTES } from '../schema'

export type Upload = { file: Uint8Array<ArrayBuffer>; maps: ImportMaps }

const decoder = new TextDecoder()

const readMap = (form: FormPart[], name: keyof ImportMaps): unknown => {
  const [part] = form.filter((each) => each.name === name)
  if (!part) return undefined
  if (part.content.length > MAX_MAP_BYTES) throw fieldError(name, null, 'must be at most 16 KiB')
  const map = parseJson(decoder.decode(part.content), (mistake) => fieldError(name, null, `must be JSON: ${mistake}`))
  // Validation would take it for the prototype, and drop it.
  if (!Object.hasOwn(Object(map), '__proto__')) return map
  throw fieldError(name, null, 'must be a JSON object of strings, without __proto__')
}

/** Reads a file to import: the bare body, or the part `file` of a form, which may have `shelfMap` and `columns`. */
const readUpload = (bytes: Uint8Array<ArrayBuffer>, c: Context<App>): Upload => {
  if (mediaTypeOf(c) !== 'multipart/form-data') {
    if (bytes.length > MAX_FILE_BYTES) throw new ApiError('FILE_TOO_LARGE')
    return { file: bytes, maps: { shelfMap: {}, columns: {} } }
  }
  const form = readParts(c, bytes, 'file', 'shelfMap', 'columns')
  const [file, other] = form.filter(({ name, content }) => name === 'file' && content.length > 0)
  if (!file) throw fileMissing('file', form)
  if (other) throw fieldError('file', null, 'must be a single part')
  if (file.content.length > MAX_FILE_BYTES) throw new ApiError('FILE_TOO_LARGE')
  const maps = { shelfMap: readMap(form, 'shelfMap'), columns: readMap(form, 'columns') }
  return { file: file.content, maps: checkFields(ImportMaps, maps) as ImportMaps }
}

const validator = bodyValidator('upload', MAX_FILE_BYTES, readUpload)
export const validImport = annotate(validator as Validator<'form', { file: File }, Upload>, {
  file: { field: 'file', maxBytes: MAX_FILE_BYTES, parts: ImportMaps, acceptsRawBody: true },
})
