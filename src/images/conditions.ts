// The conditions of RFC 9110, section 13, and its single byte ranges, section 14. R2 knows them too, but throws at
// headers that it cannot read, which HTTP has us pass over.

type Known = { httpEtag: string; uploaded: Date }

const listsEtag = (header: string, { httpEtag }: Known) =>
  header.trim() === '*' || header.split(',').some((each) => each.trim().replace(/^W\//, '') === httpEtag)

const seconds = (date: string | Date) => Math.floor(new Date(date).getTime() / 1000)

/** What the conditions of a GET or HEAD make of an object: send it, say that it is unchanged, or that it is another. */
export const judge = (headers: Headers, object: Known): 'send' | 'unchanged' | 'other' => {
  const match = headers.get('If-Match')
  if (match !== null && !listsEtag(match, object)) return 'other'
  const unmodified = match === null && headers.get('If-Unmodified-Since')
  if (unmodified && seconds(object.uploaded) > seconds(unmodified)) return 'other'
  const noneMatch = headers.get('If-None-Match')
  if (noneMatch !== null) return listsEtag(noneMatch, object) ? 'unchanged' : 'send'
  const modified = headers.get('If-Modified-Since')
  return modified !== null && seconds(object.uploaded) <= seconds(modified) ? 'unchanged' : 'send'
}

/** A range of an object: its first byte, and how many. */
export type Range = { offset: number; length: number }

/** The range asked for; undefined for none, for several, and for what makes no sense; a length of 0 lies outside. */
export const rangeOf = (headers: Headers, { httpEtag, size }: Known & { size: number }): Range | undefined => {
  const ifRange = headers.get('If-Range')
  if (ifRange !== null && ifRange !== httpEtag) return undefined
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers.get('Range') ?? '') ?? []
  if (first === '' && last === '') return undefined
  if (first === '') return { offset: Math.max(0, size - Number(last)), length: Math.min(Number(last), size) }
  const end = last === '' ? size : Math.min(Number(last) + 1, size)
  if (last !== '' && Number(last) < Number(first)) return undefined
  return { offset: Number(first), length: Math.max(0, end - Number(first)) }
}
