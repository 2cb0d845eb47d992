import { ATTACK_RUNS, ATTACK_TABLES } from './commands.ts'
import { itRuns } from './run.ts'

itRuns(ATTACK_RUNS, { tables: ATTACK_TABLES, concurrent: true })
