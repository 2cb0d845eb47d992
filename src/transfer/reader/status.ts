import type { ImportOptions } from '../entry'
import { toKey } from './values'

export type Shelf = ImportOptions['shelfMap'][string]

/** Words for a status, in the languages of common files. A blank, a hyphen and an underscore are the same. */
const WORDS: Record<Exclude<Shelf, 'TAG'>, string> = {
  YET: 'to read|to be read|tbr|want to read|wishlist|wish list|planned|plan to read|unread|not started|yet|읽을 책|읽고 싶은 책|읽고 싶어요|읽을 예정|안 읽음|찜|quero ler|para ler|vou ler|por leer|quiero leer|pendiente|zu lesen|will ich lesen|ungelesen|à lire|a lire|pile à lire|読みたい|積読|積ん読|未読',
  ING: 'currently reading|reading|in progress|started|ing|읽는 중|읽고 있는 책|읽고 있어요|lendo|leyendo|lese ich|lese gerade|am lesen|en cours|en cours de lecture|je lis|読んでる|読書中|読んでいる本',
  DONE: 'read|finished|completed|complete|done|already read|읽은 책|읽음|다 읽음|완독|다 읽었어요|lido|leído|leido|terminado|gelesen|lu|terminé|読了|読んだ|既読',
  STOPPED:
    'did not finish|dnf|abandoned|stopped|stopped reading|unfinished|중단|읽다 맘|하차|abandonei|abandonado|abandonné|abgebrochen|中断|読むのをやめた',
  PAUSED: 'paused|on hold|hiatus|보류|잠시 멈춤|pausado|pausiert|en pause|en pausa|一時停止',
}

const normalize = (word: string) => toKey(word).replace(/[-_\s]/g, ' ')
const SHELVES = new Map<string, Shelf>(
  Object.entries(WORDS).flatMap(([shelf, words]) => words.split('|').map((word) => [word, shelf as Shelf] as const)),
)

/** By the folded names of shelves. */
const folded = new WeakMap<ImportOptions['shelfMap'], Map<string, Shelf>>()

/** What a shelf means, by the member's map. */
export const findMapped = (name: string, shelfMap: ImportOptions['shelfMap']) => {
  const known =
    folded.get(shelfMap) ?? new Map(Object.entries(shelfMap).map(([shelf, meaning]) => [toKey(shelf), meaning]))
  folded.set(shelfMap, known)
  return known.get(toKey(name))
}

/** What a status means, in any of the known languages. */
export const findStatus = (name: string) => SHELVES.get(normalize(name))
