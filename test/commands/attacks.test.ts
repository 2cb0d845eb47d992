import { ATTACK_RUNS } from './commands.ts'
import { itRuns } from './run.ts'

itRuns(ATTACK_RUNS)
