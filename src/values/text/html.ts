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
  szlig: 'ß',
  aelig: 'æ',
  AElig: 'Æ',
  oelig: 'œ',
  OElig: 'Œ',
  oslash: 'ø',
  Oslash: 'Ø',
  eth: 'ð',
  ETH: 'Ð',
  thorn: 'þ',
  THORN: 'Þ',
}
/** Combining characters by the ends of names such as `eacute`. */
const ACCENTS: Record<string, string> = {
  acute: '\u0301',
  grave: '\u0300',
  circ: '\u0302',
  uml: '\u0308',
  tilde: '\u0303',
  cedil: '\u0327',
  ring: '\u030a',
  caron: '\u030c',
}
const decodeNamed = (entity: string, name: string) => {
  const accent = ACCENTS[name.slice(1)]
  return NAMED[name] ?? (accent ? `${name[0]}${accent}`.normalize('NFC') : entity)
}
/** Decodes HTML entities. */
export const decodeEntities = (html: string) => decodeXML(html.replace(/&(\w{1,10});/g, decodeNamed))
