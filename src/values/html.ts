import { decodeXML } from 'entities'

// decodeXML knows numeric entities and XML's five names. All HTML names would make the Worker a seventh larger, so
// these are the ones that occur in texts.
const NAMED: Record<string, string> = {
  nbsp: ' ',
  middot: '·',
  hellip: '…',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  times: '×',
  eacute: 'é',
  egrave: 'è',
  agrave: 'à',
  ccedil: 'ç',
  auml: 'ä',
  ouml: 'ö',
  uuml: 'ü',
  ntilde: 'ñ',
}
/** Decodes HTML entities. */
export const decodeEntities = (html: string) =>
  decodeXML(html.replace(/&(\w+);/g, (entity, name) => NAMED[name] ?? entity))
