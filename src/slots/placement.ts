// What the table of slots and NEW_MEMBERS may contain. It has no imports, because scripts use it, too.

/** Identifiers of slot s start at s · 2^40, and stay below 2^53. */
export const MAX_SLOT = 8191

/** The continents of `request.cf`; `*` stands for all that are not listed, and for requests from unknown places. */
export const CONTINENTS = ['AF', 'AN', 'AS', 'EU', 'NA', 'OC', 'SA', '*'] as const
