import { hashToken } from '../../auth/access-token'
import { normaliseCode, randomCode } from '../codes/mailed-code'

// The code that undoes a change is sent without an address. It consists of the member's slot, in four digits, and 150
// random bits, so it needs neither a keyed hash nor a limit on attempts.

const PARTS = 3
const FORM = /^(\d{4})[0-9A-Z]{30}$/

/** Creates an undo code for a member of a slot, such as `0001-K7QM2-9FXTR-…`. */
export const createUndoCode = (slot: number) =>
  [String(slot).padStart(4, '0'), ...Array.from({ length: PARTS }, randomCode)].join('-')

/** The slot that an undo code names, or undefined if it cannot be one. */
export const slotOfUndoCode = (code: string) => {
  const [, slot] = FORM.exec(normaliseCode(code)) ?? []
  return slot === undefined ? undefined : Number(slot)
}

/** The stored hash of an undo code. */
export const hashUndoCode = (code: string) => hashToken(normaliseCode(code))
