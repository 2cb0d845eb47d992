import type { Code } from '../../src/transfer/entry.ts'

/** Why a row failed or was skipped, or what of it could not be kept, in words. */
const REASONS: Record<Code, string> = {
  'no-title': 'it has no title',
  'bad-date': 'a date is not a calendar date',
  'partial-date': 'a date has no month or day',
  'unknown-status': 'its status is unknown: say what it means with --map STATUS=DONE',
  'bad-isbn': 'the ISBN is not valid',
  'bad-rating': 'the rating is not valid',
  'bad-number': 'a number is not valid',
  'bad-row': 'the row cannot be read: does it have the columns of the header?',
  'short-row': 'it has fewer cells than the header',
  'rating-rounded': 'the rating was rounded',
  'review-truncated': 'the review was cut off',
  'too-long': 'a text is too long',
  'too-many': 'it has too many of something, such as tags',
  'ambiguous-match': 'several books of the library match it',
  'possible-duplicate': 'a similar book is in the library',
  'newer-here': 'the library has newer data',
  'custom-shelf-needs-choice': 'its shelf is your own: say what it means with --map SHELF=DONE',
  'duplicate-in-file': 'an earlier row of the file is the same book',
  'not-supported': 'the library has no place for it',
  'empty-highlight': 'a highlight has no text',
  'clipping-limit': 'the text is missing or cut off: the publisher limits how much can be exported',
  'replaced-highlight': 'an earlier version of an edited highlight is left out',
  bookmark: 'a bookmark has no text',
  quota: 'the library is full: a quota of the service is reached',
}

/** A code that this version does not know is shown as it is. */
export const toReason = (code: string | null) =>
  code === null ? 'no reason was given' : ((REASONS as Record<string, string>)[code] ?? code)
