import { tooMany } from '../http/errors'

// Hashing is the one work here that takes the processor for long, and while it does, its isolate answers nobody. So it
// is done by one request at a time, in short rounds, and where others wait, with a pause after each, in which reads are
// answered: a flood of logins makes logins slow, and nothing else.

/** How many may wait in an isolate: some fifteen seconds of hashing. */
const WAITING_AT_MOST = 64
const PAUSE_MS = 25
const RETRY_AFTER_SECONDS = 5
// A request whose client went away stops wherever it is, without a word: silence tells.
const GONE_AFTER_MS = 2000

type Place = { lastSeen: number }
/** The first has its turn. */
const line: Place[] = []

const closeRanks = () => {
  const here = line.filter(({ lastSeen }) => lastSeen > Date.now() - GONE_AFTER_MS)
  if (here.length < line.length) line.splice(0, line.length, ...here)
}

// By a timer of one's own: what another request resolves does not come when that one has stopped.
const wait = async (place: Place, ms: number) => {
  await scheduler.wait(ms)
  place.lastSeen = Date.now()
  closeRanks()
}

/**
 * Asked before anything of the request is counted, so that whoever comes again has lost no try.
 * @throws TOO_MANY_REQUESTS when as many wait for their turn as may
 */
export const confirmTurn = () => {
  closeRanks()
  if (line.length >= WAITING_AT_MOST) throw tooMany(RETRY_AFTER_SECONDS)
}

/**
 * Waits for its turn, then works, and calls the pause that it is given after each round.
 * @throws TOO_MANY_REQUESTS as `confirmTurn`
 */
export const takeTurn = async <T>(work: (pause: () => Promise<void>) => Promise<T>): Promise<T> => {
  confirmTurn()
  const place = { lastSeen: Date.now() }
  line.push(place)
  try {
    while (line.includes(place) && line[0] !== place) await wait(place, PAUSE_MS)
    return await work(async () => {
      // Who came meanwhile has had no chance to stand in line.
      await wait(place, 0)
      if (line.length > 1) await wait(place, PAUSE_MS)
    })
  } finally {
    const at = line.indexOf(place)
    if (at >= 0) line.splice(at, 1)
  }
}
