import type { Shelf } from '../../entries/entry'
import { toKey } from './values'

/** Words for a status, in the languages of common files. Blanks, hyphens and underscores do not matter. */
const WORDS: Record<Exclude<Shelf, 'TAG'>, string> = {
  YET: 'to read|to be read|tbr|want to read|wishlist|wish list|planned|plan to read|unread|not started|not begun|yet|읽을 책|읽고 싶은 책|읽고 싶어요|읽고 싶음|읽을 예정|안 읽음|읽기 전|찜|quero ler|para ler|vou ler|por leer|quiero leer|pendiente|zu lesen|will ich lesen|ungelesen|à lire|a lire|pile à lire|読みたい|読みたい本|積読|積ん読|未読',
  ING: 'currently reading|reading|in progress|started|ing|읽는 중|읽고 있는 책|읽고 있어요|읽고 있음|독서 중|lendo|leyendo|lese ich|lese gerade|am lesen|en cours|en cours de lecture|je lis|読んでる|いま読んでる|今読んでる|読んでいる|読書中|読んでいる本|読み中|読みかけ',
  DONE: 'read|finished|completed|complete|done|already read|읽은 책|읽음|다 읽음|읽었음|완독|완독함|완료|독서 완료|다 읽었어요|lido|leído|leido|terminado|gelesen|lu|terminé|読了|読んだ|読んだ本|読み終わった|読み終えた|既読',
  STOPPED:
    'did not finish|dnf|abandoned|stopped|stopped reading|unfinished|중단|포기|중도 포기|읽다 맘|하차|중도 하차|abandonei|abandonado|abandonné|abgebrochen|中断|挫折|読むのをやめた|途中でやめた',
  PAUSED: 'paused|on hold|hiatus|보류|잠시 멈춤|pausado|pausiert|en pause|en pausa|一時停止',
}

const normalize = (word: string) => toKey(word).replace(/[-_\s]/g, '')
const SHELVES = new Map<string, Shelf>(
  Object.entries(WORDS).flatMap(([shelf, words]) =>
    words.split('|').map((word) => [normalize(word), shelf as Shelf] as const),
  ),
)

export const findStatus = (name: string) => SHELVES.get(normalize(name))

/** The codes of languages, with their names in English, and some in Korean or in the language itself. */
const LANGUAGES = new Map(
  [
    'en english 영어|ko korean 한국어|ja japanese 日本語|zh chinese|es spanish español|fr french français|de german deutsch',
    'it italian italiano|pt portuguese português|nl dutch|ru russian|pl polish|sv swedish|da danish|no norwegian|fi finnish',
    'cs czech|tr turkish|el greek|hu hungarian|ar arabic|he hebrew|la latin|vi vietnamese|ca catalan|uk ukrainian',
  ]
    .flatMap((languages) => languages.split('|'))
    .map((language) => language.split(' '))
    .flatMap(([code = '', ...names]) => names.map((name) => [name, code] as const)),
)

/** The tag of a language, by its tag, its code of two or three letters, or its name. */
export const parseLanguage = (cell: string) => {
  const name = toKey(cell)
  if (!name) return null
  const code = LANGUAGES.get(name) ?? name.replaceAll('_', '-')
  if (!/^[a-z]{2,3}(?:-[a-z\d]{1,8}){0,3}$/.test(code)) return undefined
  try {
    return Intl.getCanonicalLocales(code)[0]
  } catch {
    return undefined
  }
}

const FORMATS = [
  ['AUDIO', /audi|hör|오디오|cd$/i],
  ['EBOOK', /e-?book|kindle|digital|nook|epub|pdf|전자|電子/i],
  [
    'PAPER',
    /paper|hardcover|hardback|bound|binding|print|board|book|cover|종이|taschenbuch|tapa|poche|brochado|broché/i,
  ],
] as const

export const parseFormat = (cell: string) => {
  const name = toKey(cell)
  return name ? FORMATS.find(([, pattern]) => pattern.test(name))?.[0] : null
}
