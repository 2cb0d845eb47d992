import * as z from 'zod/mini'
import { IMPORT_OUTCOMES, MERGE_RULES } from '../../values/contract'
import { IdParameter } from '../../values/fields'
import { pagingUpTo } from '../../values/paging'
import { FORMATS, SHELF_MEANINGS } from '../entries/entry'

export const MAX_FILE_BYTES = 10 * 1024 * 1024
/** Imports that a member may start in 24 hours. Dry runs count only as files. */
export const MAX_PER_DAY = 20
/** Files of a member that are read in 24 hours, also those that are refused. */
export const MAX_FILES_PER_DAY = 60
/** Imports whose reports are kept; older ones are deleted when another import starts. */
export const MAX_KEPT = 10
/** Imports of devices that are listed, and those whose reports are kept for an undo of a device. */
export const MAX_LISTED_OF_DEVICES = 50
export const MAX_KEPT_OF_DEVICES = 500

/** Characters of the name of a file that a device sends. The rest is cut off. */
export const MAX_FILE_NAME = 255

/** What starts an import: the member's own request, or a device. */
export const IMPORT_SOURCES = ['member', 'devices'] as const

/** What a row changes in a column, as the report keeps it. */
export type Change = [from: string | number | null, to: string | number | null]
/** Precedes the column of the file that a memo comes from, which may have the name of a column of books. */
export const MEMO_PREFIX = 'memo: '

const nameIn = <const Names extends readonly string[]>(names: Names) =>
  z.enum(names, { error: `must be one of ${names.join(', ')}` })

const encodingError = 'must be the name of an encoding, such as utf-8 or euc-kr'
const isEncoding = (label: string) => {
  try {
    return Boolean(new TextDecoder(label))
  } catch {
    return false
  }
}

export const ImportQuery = z.lazy(() =>
  z.object({
    dryRun: z._default(nameIn(['true', 'false']), 'false'),
    format: z.optional(nameIn(FORMATS)),
    merge: z._default(nameIn(MERGE_RULES), 'fill'),
    keepVisibility: z._default(nameIn(['true', 'false']), 'false'),
    encoding: z.optional(
      z.string().check(z.maxLength(40, { error: encodingError }), z.refine(isEncoding, { error: encodingError })),
    ),
  }),
)
export type ImportQuery = z.infer<typeof ImportQuery>

const mapError = 'must be a JSON object of strings'
const name = () => z.string({ error: mapError }).check(z.maxLength(500, { error: mapError }))

/** The most bytes of each map below. */
export const MAX_MAP_BYTES = 16_384

export const ImportMaps = z.lazy(() =>
  z.object({
    shelfMap: z._default(z.record(name(), nameIn(SHELF_MEANINGS), { error: mapError }), {}),
    columns: z._default(z.record(name(), name(), { error: mapError }), {}),
  }),
)
export type ImportMaps = z.infer<typeof ImportMaps>

export const ListQuery = z.lazy(() => z.object({ from: z._default(nameIn(IMPORT_SOURCES), 'member') }))
export type ListQuery = z.infer<typeof ListQuery>

export const ImportPath = z.lazy(() => z.object({ 'import-id': IdParameter }))
export const RowsQuery = z.lazy(() =>
  z.extend(pagingUpTo(), { outcome: z._default(nameIn(['ALL', ...IMPORT_OUTCOMES]), 'ALL') }),
)
export type RowsQuery = z.infer<typeof RowsQuery>
