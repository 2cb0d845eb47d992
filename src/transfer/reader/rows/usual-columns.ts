import { refuse } from '../limits'
import * as read from './columns'
import { withoutScale } from './rating-scales'
import { finished, started, status } from './readings'
import type { ReadCell } from './row'
import { toCompactKey } from './values'

/**
 * The usual names of columns in seven languages, by field, in the order in which they are read. If several columns have
 * names of a field, the first name counts: a `shelf` beside a `reading status` is a piece of furniture.
 */
const NAMES = {
  sourceId: 'source id',
  title:
    'title|book title|book name|book|name|제목|책 제목|책제목|도서명|책 이름|책이름|título|titulo|titel|buchtitel|titre|タイトル|書名|題名|本のタイトル',
  subtitle: 'subtitle|부제|부제목|subtítulo|subtitulo|untertitel|sous-titre|副題|サブタイトル',
  author:
    'author|authors|author name|writer|by|저자|작가|지은이|글쓴이|autor|autora|autores|autor(a)|autor/in|autorin|auteur|auteurs|auteur(e)|著者|著者名|作者|作家',
  isbn: 'isbn|isbn 13|isbn 10|isbn/uid|ean',
  publisher: 'publisher|출판사|editora|editorial|verlag|éditeur|editeur|出版社|出版者',
  publishedYear:
    'year published|published year|publish year|publication year|published|published at|year|release date|release year|publication date|publish date|date published|first publish year|first published|original publication year|출판년도|출판연도|출간년도|출간연도|출판일|출간일|발행일|발행년도|ano|ano de publicação|año|año de publicación|jahr|erscheinungsjahr|erschienen|année|année de publication|出版年|発行年|発売日|出版日',
  pages:
    'total pages|number of pages|page count|pages|쪽수|페이지|페이지 수|전체 페이지|páginas|paginas|número de páginas|seiten|seitenzahl|nombre de pages|ページ数|総ページ数',
  currentPage:
    'current page|page|progress page|현재 페이지|현재 쪽|página atual|página actual|aktuelle seite|page actuelle|現在のページ',
  rating:
    'my rating|user rating|rating|star rating|stars|별점|평점|내 별점|avaliação|nota|calificación|valoración|puntuación|bewertung|note|évaluation|評価',
  addedAt:
    "added|date added|added at|created|등록일|추가일|추가한 날|adicionado em|data de adição|añadido|fecha de alta|hinzugefügt|hinzugefügt am|ajouté le|date d'ajout|登録日|追加日",
  startedAt:
    'start date|date started|started at|started|started reading|started reading on|start reading|시작일|읽기 시작한 날|시작 날짜|data de início|início|fecha de inicio|begonnen|startdatum|angefangen|commencé le|date de début|開始日|読み始めた日',
  finishedAt:
    'finish date|date finished|finished at|finished reading|finished reading on|ended reading on|end reading|date read|end date|finished|completed|year read|완독일|종료일|읽은 날짜|다 읽은 날|완독 날짜|data de término|data de leitura|fin|fecha de fin|fecha de lectura|beendet|enddatum|gelesen am|terminé le|date de fin|date de lecture|読了日|終了日',
  status:
    'read status|reading status|status|shelf|exclusive shelf|상태|독서 상태|읽기 상태|situação|estado|lesestatus|statut|ステータス|読書状況|状態',
  tags: 'tags|tag|labels|shelves|bookshelves|categories|태그|분류|책장|etiquetas|marcadores|schlagwörter|étiquettes|mots-clés|タグ',
  review: 'review|my review|리뷰|서평|독후감|감상|resenha|crítica|reseña|rezension|avis|critique|レビュー|感想',
  notes:
    'notes|private notes|comment|comments|memo|메모|비고|notas|anotações|comentarios|notizen|notiz|notes personnelles|メモ|ノート|備考',
  series: 'series|시리즈|총서|série|serie|reihe|シリーズ',
  seriesNumber: 'series number|volume|series index|권|권수|volumen|band|tome|巻|巻数',
  language: 'language|언어|idioma|língua|sprache|langue|言語',
  format: 'format|binding|media|형태|형식|판형|formato|einband|フォーマット|形式',
}
export type UsualField = keyof typeof NAMES
const FIELDS = Object.keys(NAMES) as UsualField[]

/** The functions that read the columns. Those that are not named here have the name of the field. */
const READERS: Record<UsualField, ReadCell> = {
  ...read,
  author: read.authors(';'),
  publishedYear: read.yearOfDate,
  addedAt: read.added,
  startedAt: started,
  finishedAt: finished,
  status,
  tags: read.tags(),
  review: read.memo,
  notes: read.memo,
}

const NAMED_FIELDS = FIELDS.flatMap((field) =>
  NAMES[field].split('|').map((name) => [toCompactKey(name), field] as const),
)
const FIELDS_BY_NAME = new Map(NAMED_FIELDS)
const exactFieldOf = (column: string) => FIELDS_BY_NAME.get(toCompactKey(column))
/** The field of the plural, or of the singular if the name is a plural. */
const fieldOfOtherNumber = (column: string) => {
  const key = toCompactKey(column)
  return FIELDS_BY_NAME.get(key.endsWith('s') ? key.slice(0, -1) : `${key}s`)
}
/** `page` and `pages` are two fields, so the exact name comes first. A rating may have its scale: `Rating (1-10)`. */
export const fieldOf = (column: string): UsualField | undefined => {
  const found = exactFieldOf(column) ?? fieldOfOtherNumber(column)
  if (found) return found
  const bare = withoutScale(column)
  return bare !== column && fieldOf(bare) === 'rating' ? 'rating' : undefined
}

/** The folded names of columns by field. Several columns may hold an ISBN. */
export type Found = Map<string, string[]>

export const findUsual = (keys: string[]) => {
  const found: Found = new Map()
  const left = new Set(keys)
  const take = (column: string, field: string | undefined) => {
    const columns = (field && found.get(field)) ?? []
    if (!field || (field !== 'isbn' && columns.length > 0)) return
    found.set(field, [...columns, column])
    left.delete(column)
  }
  const named = Map.groupBy(keys, toCompactKey)
  for (const [name, field] of NAMED_FIELDS) for (const column of named.get(name) ?? []) take(column, field)
  // Last, `note`: a rating in French, but words beside a column of ratings.
  for (const find of [fieldOf, fieldOfOtherNumber]) for (const column of left) take(column, find(column))
  return found
}

/** Finds the columns that the member names. @throws ImportFileError if there is no such field or column */
export const findNamed = (keys: string[], columns: Record<string, string>) => {
  const found: Found = new Map()
  for (const [field, column] of Object.entries(columns)) {
    if (!Object.hasOwn(NAMES, field)) refuse(`There is no field ${field.slice(0, 50)} to read a column into.`)
    const key = keys.find((key) => toCompactKey(key) === toCompactKey(column))
    found.set(field, [key ?? refuse(`The file has no column named ${column.slice(0, 50)}.`)])
  }
  return found
}

/** @param rating reads the column of ratings */
export const readersOf = (found: Found, rating = read.rating) =>
  FIELDS.flatMap((field) =>
    (found.get(field) ?? []).map((column) => [column, field === 'rating' ? rating : READERS[field]] as const),
  )
