// Marks show whether databases belong together: docs/decisions/0021-slots.md. Scripts use this file: no imports.

/** A row of `slotMarks`. */
export type Mark = { slot: number; mark: string; isConfirmed: number }

/** The marks that the database of a slot may have; '' stands for none. `known`: the one that slot 0 has for it. */
export const listOwnMarks = (known: Mark | undefined) => {
  if (!known) return ['']
  return known.isConfirmed ? [known.mark] : [known.mark, '']
}

/** Whether a database is the one of its slot. `known`: the marks in slot 0; `own`: those in the database. */
export const isOfSlot = (slot: number, known: Mark[], [own]: Mark[]) =>
  listOwnMarks(known.find((each) => each.slot === slot)).includes(own?.mark ?? '')
