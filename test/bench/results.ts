import type { Draws } from './draws.ts'
import type { ExportCost } from './parts/export.ts'
import type { ImportCost } from './parts/import.ts'
import type { Flooded } from './parts/passwords.ts'
import type { Peer } from './parts/peers.ts'
import type { PageSpeed } from './parts/reference.ts'
import type { Cost, RowCost } from './parts/rows.ts'
import type { SlotResults } from './parts/slots.ts'
import type { StatisticsCost } from './parts/statistics.ts'
import type { Speed } from './parts/throughput.ts'

export type Results = {
  worker: { bytes: number; gzipped: number }
  startupMs?: number
  rows?: RowCost[]
  hashing?: Record<string, Cost>
  /** The most rows that a batch of each operation changes. */
  batches?: Record<string, number>
  speed?: Record<string, { service: Speed; baseline?: Speed }>
  distance?: Record<string, { service: number; chain: number }>
  passwords?: { hashMs: number; flood: Flooded }
  draws?: Draws
  storage?: { bytes: number; books: number; memos: number; entryBytes: number }
  peers?: Record<string, Partial<Record<Peer, Speed>>>
  slots?: SlotResults
  reference?: Record<string, PageSpeed>
  import?: ImportCost[]
  export?: ExportCost[]
  statistics?: StatisticsCost
  picture?: { statsMs: number; pictureMs: number }
}
