import { tableFormat } from '../table'
import { parseIsbn, splitList, toKey } from '../values'

/** Dates that Calibre writes where it has none. */
const isUnknown = (date: string | null) => date === '0101-01-01' || date === '1970-01-01' || date === '0100-12-31'

export const calibre = tableFormat({
  name: 'calibre',
  matches: (has) => has('title') && (has('title_sort') || has('author_sort')) && (has('uuid') || has('identifiers')),
  columns:
    'author_sort,authors,cover,formats,id,identifiers,isbn,languages,library_name,pubdate,publisher,rating,series,series_index,size,tags,timestamp,title,title_sort,uuid',
  unsupported: 'comments',
  read: (row) => {
    const { entry, get } = row
    row.identify('calibre', get('uuid'), 'uuid')
    row.isbn('isbn')
    for (const identifier of splitList(get('identifiers'), ',')) {
      const colon = identifier.indexOf(':')
      const [source, id] = [toKey(identifier.slice(0, Math.max(0, colon))), identifier.slice(colon + 1)]
      if (source !== 'isbn') row.identify(source, id, 'identifiers')
      else if (!entry.isbn) entry.isbn = parseIsbn(id) ?? null
    }
    entry.title = row.text('title')
    row.authors(splitList(get('authors'), ' & '), 'authors')
    entry.publisher = row.text('publisher')
    const published = row.date('pubdate')
    entry.publishedYear = isUnknown(published) ? null : Number(published?.slice(0, 4)) || null
    const [language, ...languages] = splitList(get('languages'), ',')
    if (language) row.language('languages', language)
    if (languages.length > 0) row.lose('not-supported', 'languages')
    const formats = get('formats')
    if (formats) entry.format = /m4b|mp3|audio/i.test(formats) ? 'AUDIO' : 'EBOOK'
    row.added('timestamp')
    if (isUnknown(entry.addedAt?.slice(0, 10) ?? null)) entry.addedAt = null
    row.rate('rating')
    entry.series = row.text('series')
    entry.seriesNumber = entry.series ? row.decimal('series_index') : null
    row.tag(splitList(get('tags'), ','), 'tags')
  },
})
