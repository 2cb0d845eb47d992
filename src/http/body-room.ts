import { createRoom } from '../room'
import { unavailable } from './errors'

// A Worker has 128 MB. An upload is held up to four times over while it is read, cleaned and stored, JSON about five.
const MIB = 1024 * 1024
const LONGEST_MS = 90_000
const ROOMS = { file: createRoom(22 * MIB, LONGEST_MS), json: createRoom(4 * MIB, LONGEST_MS) }

/** What is smaller is let through without asking. */
const SMALL_BYTES = 16_384
const LONGEST_WAIT_MS = 10_000
const PAUSE_MS = 25

/**
 * Does the work on a body of so many bytes once there is memory for it.
 * @throws UNAVAILABLE when there is none for too long
 */
export const withRoom = async (kind: keyof typeof ROOMS, bytes: number, work: () => Promise<void>) => {
  if (bytes <= SMALL_BYTES) return work()
  const enter = ROOMS[kind]
  let leave = enter(bytes)
  for (let waited = 0; !leave; waited += PAUSE_MS) {
    if (waited >= LONGEST_WAIT_MS) throw unavailable('too many large bodies at once')
    // Not woken by whoever leaves: that request may be ended before it could.
    await scheduler.wait(PAUSE_MS)
    leave = enter(bytes)
  }
  return work().finally(leave)
}
