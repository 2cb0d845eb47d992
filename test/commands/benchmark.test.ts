import { BENCHMARK_RUNS, BENCHMARK_TABLES } from './commands.ts'
import { itRuns } from './run.ts'

itRuns(BENCHMARK_RUNS, { tables: BENCHMARK_TABLES })
