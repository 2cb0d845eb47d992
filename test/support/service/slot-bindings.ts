/** The bindings of the further databases of a deployment with 40 slots. The tests have them under `LARGE_` and this name. */
export const SLOT_BINDINGS = Array.from({ length: 39 }, (_, at) => `DB_${at + 1}` as const)
