/// <reference types="vite/types/importMeta.d.ts" />
// What the feature tests run against: the Worker in this process, or, under `npm run smoke`, a service elsewhere.
import type { TestContext } from 'vitest'

export type SmokeMember = { email: string; token: string }

type Remote = {
  url: string
  /** An origin that CORS_ORIGINS of the service allows. */
  origin: string
  /** Where sign-ups and tokens are recorded, for withdrawing everyone at the end. */
  journal: string
  /** The only members there are, where sign-up needs a mailed code or is not wanted. */
  members?: SmokeMember[]
}

/** The service that `npm run smoke` tests; undefined when the tests run in the Worker itself. */
export const remote: Remote | undefined = import.meta.env.SMOKE ? JSON.parse(import.meta.env.SMOKE) : undefined

let current: TestContext | undefined
export const setCurrentTest = (context: TestContext) => {
  current = context
}

/** Ends the running test as skipped. Returns only outside a test, in hooks. */
export const skipTest = (reason: string) => {
  const context = current
  current = undefined
  if (context?.task.result?.state === 'run') context.skip(reason)
}
