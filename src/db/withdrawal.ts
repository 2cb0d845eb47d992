// What a withdrawal writes, apart from its rows. It has no imports, because scripts use it, too.

/** The SET clause that erases a withdrawn member's row. No address has this form, and no password an empty hash. */
export const ERASED = `email = 'withdrawn-' || memberId, name = '', passwordHash = '', blockedAt = null, maxBooks = null,
    maxTextBytes = null, maxImageBytes = null, timeZone = null`
