import { escapeXml } from '../../values/text/xml'

// KOReader finds only elements with a prefix.

const XML = '<?xml version="1.0" encoding="utf-8"?>'

/** The answer to PROPFIND: an empty folder. @param path percent-encoded */
export const toMultistatus = (path: string) => {
  const href = escapeXml(path.endsWith('/') ? path : `${path}/`)
  const type = '<d:resourcetype><d:collection/></d:resourcetype>'
  const properties = `<d:propstat><d:prop>${type}</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>`
  return `${XML}<d:multistatus xmlns:d="DAV:"><d:response><d:href>${href}</d:href>${properties}</d:response></d:multistatus>`
}

/** The precondition of RFC 4918, section 9.1.1. */
export const NO_INFINITE_DEPTH = `${XML}<d:error xmlns:d="DAV:"><d:propfind-finite-depth/></d:error>`
