import * as z from 'zod/mini'
import { IMPORT_OUTCOMES, IMPORT_STATUSES, MERGE_RULES } from '../../values/contract'
import { Int32 } from '../../values/fields'
import { Id, Instant } from '../../values/responses'
import { CODES, FORMATS, MAX_COLUMN_NAME, MAX_UNKNOWN_COLUMNS } from '../entry'
import { MAX_ROWS } from '../reader/limit-entries'

const ImportCode = z.enum(CODES).register(z.globalRegistry, { id: 'ImportCode' })

export const Import = z
  .object({
    importId: Id,
    status: z.enum(IMPORT_STATUSES).register(z.globalRegistry, { id: 'ImportStatus' }),
    format: z.enum(FORMATS).register(z.globalRegistry, { id: 'ImportFormat' }),
    dryRun: z.boolean(),
    merge: z.enum(MERGE_RULES).register(z.globalRegistry, { id: 'MergeRule' }),
    encoding: z.string().check(z.maxLength(40)),
    unknownColumns: z.array(z.string().check(z.maxLength(MAX_COLUMN_NAME))).check(z.maxLength(MAX_UNKNOWN_COLUMNS)),
    createdAt: Instant,
    rows: Int32,
    counts: z
      .object({ created: Int32, updated: Int32, unchanged: Int32, skipped: Int32, failed: Int32 })
      .register(z.globalRegistry, { id: 'ImportCounts' }),
    reason: z.nullable(z.string().check(z.maxLength(1000))),
  })
  .register(z.globalRegistry, { id: 'Import' })
export type Import = z.infer<typeof Import>

const ImportLoss = z.object({ code: ImportCode, field: z.string() }).register(z.globalRegistry, { id: 'ImportLoss' })

export const ImportRow = z
  .object({
    line: Int32,
    title: z.nullable(z.string()),
    outcome: z.enum(IMPORT_OUTCOMES).register(z.globalRegistry, { id: 'ImportOutcome' }),
    code: z.nullable(ImportCode),
    losses: z.array(ImportLoss),
    bookId: z.nullable(Id),
  })
  .register(z.globalRegistry, { id: 'ImportRow' })
export type ImportRow = z.infer<typeof ImportRow>

export const UndoneImport = z
  .object({
    removed: Int32,
    kept: z
      .array(
        z
          .object({ bookId: Id, title: z.string().check(z.maxLength(500)) })
          .register(z.globalRegistry, { id: 'KeptBook' }),
      )
      .check(z.maxLength(MAX_ROWS)),
  })
  .register(z.globalRegistry, { id: 'UndoneImport' })
export type UndoneImport = z.infer<typeof UndoneImport>
