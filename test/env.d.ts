import type { D1Migration } from '@cloudflare/vitest-pool-workers'
import type { Bindings } from '../src/env'

declare global {
  namespace Cloudflare {
    interface Env extends Bindings {
      MIGRATED: D1Database
      SPARE_1: D1Database
      SPARE_2: D1Database
      MIGRATIONS: D1Migration[]
      SEED: number
      /** Whether the environment has ALL_FAULTS=1. */
      ALL_FAULTS: boolean
    }
    interface GlobalProps {
      mainModule: typeof import('../src/index')
    }
  }
}
