import { BENCHMARK_RUNS } from './commands.ts'
import { itRuns } from './run.ts'

itRuns(BENCHMARK_RUNS)
