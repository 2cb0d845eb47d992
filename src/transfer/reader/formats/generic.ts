import type { ImportOptions, Source } from '../../entry'
import { ImportFileError } from '../file-error'
import { type Row, shelve } from '../row'
import { findStatus } from '../status'
import { headerOf, readTable, type TableFormat } from '../table'
import { splitList, toKey } from '../values'

/** The usual names of columns, by field: English, Korean, Portuguese, Spanish, German, French and Japanese. */
const NAMES: Record<string, string> = {
  title:
    'title|book title|book|name|제목|책 제목|책제목|도서명|책 이름|책이름|título|titulo|titel|buchtitel|titre|タイトル|書名|題名|本のタイトル',
  author:
    'author|authors|author name|writer|by|저자|작가|지은이|글쓴이|autor|autora|autores|autor(a)|autor/in|autorin|auteur|auteurs|auteur(e)|著者|著者名|作者|作家',
  isbn: 'isbn|isbn13|isbn-13|isbn 13|isbn_13|isbn10|isbn-10|isbn 10|isbn_10|isbn/uid|ean',
  publisher: 'publisher|출판사|editora|editorial|verlag|éditeur|editeur|出版社|出版者',
  pages:
    'pages|page count|number of pages|total pages|쪽수|페이지|페이지 수|전체 페이지|páginas|paginas|número de páginas|seiten|seitenzahl|nombre de pages|ページ数|総ページ数',
  currentPage:
    'current page|page|progress page|현재 페이지|현재 쪽|página atual|página actual|aktuelle seite|page actuelle|現在のページ',
  status:
    'status|read status|reading status|shelf|exclusive shelf|상태|독서 상태|읽기 상태|situação|estado|lesestatus|statut|ステータス|読書状況|状態',
  rating:
    'rating|my rating|star rating|stars|별점|평점|내 별점|avaliação|nota|calificación|valoración|puntuación|bewertung|note|évaluation|評価',
  startedAt:
    'started|start date|date started|started at|시작일|읽기 시작한 날|시작 날짜|data de início|início|fecha de inicio|begonnen|startdatum|angefangen|commencé le|date de début|開始日|読み始めた日',
  finishedAt:
    'finished|finish date|date finished|finished at|date read|end date|completed|완독일|종료일|읽은 날짜|다 읽은 날|완독 날짜|data de término|data de leitura|fin|fecha de fin|fecha de lectura|beendet|enddatum|gelesen am|terminé le|date de fin|date de lecture|読了日|終了日',
  addedAt:
    "added|date added|added at|created|등록일|추가일|추가한 날|adicionado em|data de adição|añadido|fecha de alta|hinzugefügt|hinzugefügt am|ajouté le|date d'ajout|登録日|追加日",
  tags: 'tags|tag|labels|shelves|bookshelves|categories|태그|분류|책장|etiquetas|marcadores|schlagwörter|étiquettes|mots-clés|タグ',
  review: 'review|my review|리뷰|서평|독후감|감상|resenha|crítica|reseña|rezension|avis|critique|レビュー|感想',
  notes:
    'notes|private notes|comment|comments|메모|비고|notas|anotações|comentarios|notizen|notiz|notes personnelles|メモ|ノート|備考',
  series: 'series|시리즈|총서|série|serie|reihe|シリーズ',
  seriesNumber: 'series number|volume|series index|권|권수|volumen|band|tome|巻|巻数',
  language: 'language|언어|idioma|língua|sprache|langue|言語',
  format: 'format|binding|media|형태|형식|판형|formato|einband|フォーマット|形式',
  sourceId: 'source id|sourceid|source_id',
}

const normalize = (name: string) => toKey(name).replaceAll('_', ' ')
const FIELDS = new Map(
  Object.entries(NAMES).flatMap(([field, names]) => names.split('|').map((name) => [normalize(name), field] as const)),
)

/** The folded names of the columns, by field. Several columns may hold an ISBN. */
const columnsOf = (source: Source, columns: ImportOptions['columns']) => {
  const header = headerOf(source)
  const fields = new Map<string, string[]>()
  for (const [field, column] of Object.entries(columns)) {
    if (!Object.hasOwn(NAMES, field))
      throw new ImportFileError(`There is no field ${field.slice(0, 50)} to read a column into.`)
    if (!header.some((name) => toKey(name) === toKey(column))) {
      throw new ImportFileError(`The file has no column named ${column.slice(0, 50)}.`)
    }
    fields.set(field, [toKey(column)])
  }
  if (fields.size > 0) return fields
  for (const name of header) {
    const field = FIELDS.get(normalize(name))
    if (field && (field === 'isbn' || !fields.has(field)))
      fields.set(field, [...(fields.get(field) ?? []), toKey(name)])
  }
  return fields
}

const splitTags = (cell: string) => splitList(cell, cell.includes(';') ? ';' : ',')

const readRow = (row: Row, fields: Map<string, string[]>, options: ImportOptions) => {
  const { entry, get } = row
  const sourceId = get('sourceId')
  const colon = sourceId.indexOf(':')
  if (colon > 0) row.identify(sourceId.slice(0, colon), sourceId.slice(colon + 1), 'sourceId')
  else if (sourceId) row.lose('not-supported', 'sourceId')
  entry.title = row.text('title')
  row.authors(splitList(get('author'), ';'), 'author')
  row.isbn(...(fields.get('isbn') ?? []))
  entry.publisher = row.text('publisher')
  entry.pages = row.pages('pages')
  entry.currentPage = row.integer('currentPage')
  row.rate('rating')
  row.added('addedAt')
  const [startedAt, finishedAt] = [row.date('startedAt'), row.date('finishedAt')]
  if (startedAt || finishedAt) row.addReading(startedAt, finishedAt, 'startedAt')
  // Without a column for it, the dates say the status.
  if (fields.has('status')) shelve(row, get('status'), 'status', options, findStatus, 'unknown-status')
  else if (finishedAt) shelve(row, 'done', 'finishedAt', { shelfMap: {} }, findStatus)
  else if (startedAt) shelve(row, 'ing', 'startedAt', { shelfMap: {} }, findStatus)
  row.tag(splitTags(get('tags')), 'tags')
  row.memo(get('review'), 'review')
  row.memo(get('notes'), 'notes')
  entry.series = row.text('series')
  entry.seriesNumber = row.decimal('seriesNumber')
  row.language('language')
  row.format('format')
}

export const generic: TableFormat = {
  name: 'csv',
  matches: (source) => source.rows.length > 0 && columnsOf(source, {}).has('title'),
  knows: (column, source, { columns }) => [...columnsOf(source, columns).values()].flat().includes(column),
  read: (source, options) => {
    const fields = columnsOf(source, options.columns)
    const aliases = [...fields].map(([field, [column = '']]): [string, string] => [
      field === 'isbn' ? '' : field,
      column,
    ])
    return readTable(source, options, (row) => readRow(row, fields, options), aliases)
  },
}
