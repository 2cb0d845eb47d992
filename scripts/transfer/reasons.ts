import { REPORT_CODES } from '../../src/transfer/entries/entry.ts'

const MEANINGS: Record<string, string> = REPORT_CODES
const OPTIONS: Record<string, string> = {
  'unknown-status': ' (--map STATUS=DONE)',
  'made-private': ' (--keep-visibility)',
}

/** Why a row failed or was skipped, or what of it could not be kept, in words. An unknown code is shown as it is. */
export const toReason = (code: string | null) =>
  code === null ? 'no reason was given' : `${MEANINGS[code] ?? code}${OPTIONS[code] ?? ''}`
