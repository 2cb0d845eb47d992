import { spawn } from 'node:child_process'
import { constants } from 'node:os'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** Ends this process on a signal as at its end, so that what is temporary is deleted. */
export const exitOnSignals = () => {
  for (const signal of SIGNALS) process.on(signal, () => process.exit(128 + constants.signals[signal]))
}

/** Runs wrangler and returns its exit code. Without stdin it never prompts. */
export const runWrangler = (stdin: 'inherit' | 'ignore', ...args: string[]) => {
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' }
  const child = spawn('wrangler', args, { stdio: [stdin, 'inherit', 'inherit'], env })
  const forward = (signal: NodeJS.Signals) => child.kill(signal)
  for (const signal of SIGNALS) process.on(signal, forward)
  // npm passes signals to its shell only, which exits without stopping this process: stop when the parent is gone.
  const parent = process.ppid
  const timer = setInterval(() => process.ppid === parent || child.kill('SIGTERM'), 500)
  return new Promise<number>((resolve) =>
    child.on('exit', (code, signal) => {
      clearInterval(timer)
      for (const signal of SIGNALS) process.off(signal, forward)
      // As shells report a process that a signal ended, so that no further step follows.
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0))
    }),
  )
}
