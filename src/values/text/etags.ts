/** Whether an If-Match header has the entity tag (RFC 9110, section 13.1). */
export const matchesEtag = (header: string, etag: string) =>
  header.trim() === '*' || header.split(',').some((each) => each.trim() === etag)

/** The same for If-None-Match, which ignores that a tag is weak. */
export const matchesWeakEtag = (header: string, etag: string) => matchesEtag(header.replaceAll('W/"', '"'), etag)
