import { env } from 'cloudflare:workers'

declare global {
  namespace Cloudflare {
    interface Env {
      /** From the environment variable SEED, or new in each run. */
      SEED: number
    }
  }
}

/** Runs a test on random cases. A failure says how to repeat them. */
export const randomized = (test: (seed: number) => Promise<void>) => async () => {
  try {
    await test(env.SEED)
  } catch (error) {
    if (error instanceof Error) error.message = `With SEED=${env.SEED}: ${error.message}`
    throw error
  }
}
