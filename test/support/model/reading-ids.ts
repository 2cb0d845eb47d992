// Identifiers of readings. A change of a book can begin a reading, whose identifier the service shows only later.
import type { Library } from './library'

/** Half of a slot's range of identifiers: those of readings are in the upper half, but for first readings. */
const HALF = 2 ** 39
const STEP = 2 ** -6

/** An identifier that the service has not shown yet: a fraction above all that are known, and below those to come. */
export const addUnknownId = ({ readingIds, bookIds }: Library) => {
  const [lowest] = bookIds as [number]
  const id = (readingIds.at(-1) ?? HALF * (Math.floor(lowest / HALF) | 1)) + STEP
  readingIds.push(id)
  return id
}

const rename = ({ readingIds, readings, current, trash }: Library, place: number, id: number) => {
  const before = readingIds[place]
  readingIds[place] = id
  const deleted = trash.flatMap((each) => ('book' in each ? each : []))
  const ofMerged = deleted.flatMap(({ merged }) => merged?.readings ?? [])
  const past = [...readings.values(), ...deleted.map((each) => each.readings), ofMerged].flat()
  for (const each of past) if (each.readingId === before) each.readingId = id
  const targets = deleted.flatMap(({ merged }) => (merged ? [merged.before, merged.after] : []))
  for (const { readingIds: ids } of targets) if (ids.includes(before ?? 0)) ids[ids.indexOf(before ?? 0)] = id
  const owns = [...deleted.flatMap((each) => each.current ?? []), ...targets.map(({ own }) => own)]
  for (const each of [...current.values(), ...owns]) {
    if (each.readingId === before) each.readingId = id
    if (each.archivedId === before) each.archivedId = id
  }
}

/** Takes the identifier that the service shows. @throws Error if it should be another one, or does not fit their order */
export const learnId = (library: Library, own: number, shown: number) => {
  if (own === shown) return
  const { readingIds } = library
  const place = readingIds.indexOf(own)
  const before = readingIds.slice(0, place).findLast(Number.isInteger) ?? 0
  const next = readingIds.findIndex((id, at) => at > place && Number.isInteger(id))
  const fits = shown > before && (next < 0 || shown < Number(readingIds[next]))
  if (Number.isInteger(own) || !fits) throw new Error(`${shown} should be ${own}`)
  for (let at = place; at < (next < 0 ? readingIds.length : next); at++)
    rename(library, at, shown + (at - place) * STEP)
}
