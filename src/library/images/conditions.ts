// Conditional requests (RFC 9110, section 13) and single byte ranges (section 14). R2 implements them too, but throws
// on malformed headers, which HTTP requires a server to ignore.
import { matchesEtag, matchesWeakEtag } from '../../values/text/etags'

type StoredImage = { httpEtag: string; uploaded: Date }

const toSeconds = (date: string | Date) => Math.floor(new Date(date).getTime() / 1000)

/** Evaluates the conditions of a GET or HEAD request in the order of RFC 9110, section 13.2.2. */
export const evaluateConditions = (headers: Headers, image: StoredImage): 'send' | 'unmodified' | 'failed' => {
  const ifMatch = headers.get('If-Match')
  if (ifMatch !== null && !matchesEtag(ifMatch, image.httpEtag)) return 'failed'
  const ifUnmodifiedSince = ifMatch === null && headers.get('If-Unmodified-Since')
  if (ifUnmodifiedSince && toSeconds(image.uploaded) > toSeconds(ifUnmodifiedSince)) return 'failed'
  const ifNoneMatch = headers.get('If-None-Match')
  if (ifNoneMatch !== null) return matchesWeakEtag(ifNoneMatch, image.httpEtag) ? 'unmodified' : 'send'
  const ifModifiedSince = headers.get('If-Modified-Since')
  return ifModifiedSince !== null && toSeconds(image.uploaded) <= toSeconds(ifModifiedSince) ? 'unmodified' : 'send'
}

/** A byte range within an image. A length of 0 means that the requested range is not satisfiable. */
export type Range = { offset: number; length: number }

/** The requested range. Undefined without one, if it is malformed, or if there are several: send the whole image. */
export const readRange = (headers: Headers, { httpEtag, size }: StoredImage & { size: number }): Range | undefined => {
  const ifRange = headers.get('If-Range')
  if (ifRange !== null && ifRange !== httpEtag) return undefined
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers.get('Range') ?? '') ?? []
  if (first === '' && last === '') return undefined
  if (first === '') return { offset: Math.max(0, size - Number(last)), length: Math.min(Number(last), size) }
  if (last !== '' && Number(last) < Number(first)) return undefined
  const end = last === '' ? size : Math.min(Number(last) + 1, size)
  return { offset: Number(first), length: Math.max(0, end - Number(first)) }
}
