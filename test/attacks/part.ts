import type { Options, Service } from './service'

/** What a part is given. Everything that a part draws at random it draws from the seed. */
export type Run = {
  /** The short form: fewer of everything, nothing left out. */
  quick: boolean
  seed: number
  progress: (line: string) => void
  /** Starts a service for this part, which is stopped after it; its log and its answers are looked through then. */
  start: (options?: Options) => Promise<Service>
}

/** A line of the table: what was tried, how often, and what was found. */
export type Figure = { tried: string; times: number; found: string }

/** A failure names its case, and how to repeat it where the seed alone does not tell. */
export type Findings = { figures: Figure[]; failures: string[] }

export type Part = (run: Run) => Promise<Findings>
