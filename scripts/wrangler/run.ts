import { spawn } from 'node:child_process'
import { constants } from 'node:os'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/**
 * Calls a function when the parent of this process is gone: npm passes signals to its shell only, which exits without
 * stopping this process. Returns a function that stops watching.
 */
export const watchParent = (onGone: () => void) => {
  const parent = process.ppid
  const timer = setInterval(() => process.ppid === parent || onGone(), 500).unref()
  return () => clearInterval(timer)
}

/**
 * Ends this process on a signal as at its end, so that what is temporary is deleted. Returns a function that leaves signals
 * to others.
 */
export const exitOnSignals = () => {
  const exitAs = (signal: NodeJS.Signals) => process.exit(128 + constants.signals[signal])
  for (const signal of SIGNALS) process.on(signal, exitAs)
  const stopWatching = process.env.npm_lifecycle_event ? watchParent(() => exitAs('SIGTERM')) : () => {}
  return () => {
    for (const signal of SIGNALS) process.off(signal, exitAs)
    stopWatching()
  }
}

/** Runs wrangler and returns its exit code. Without stdin it never prompts. */
export const runWrangler = (stdin: 'inherit' | 'ignore', ...args: string[]) => {
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' }
  const child = spawn('wrangler', args, { stdio: [stdin, 'inherit', 'inherit'], env })
  const forward = (signal: NodeJS.Signals) => child.kill(signal)
  for (const signal of SIGNALS) process.on(signal, forward)
  const stopWatching = watchParent(() => child.kill('SIGTERM'))
  return new Promise<number>((resolve) =>
    child.on('exit', (code, signal) => {
      stopWatching()
      for (const signal of SIGNALS) process.off(signal, forward)
      // As shells report a process that a signal ended, so that no further step follows.
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0))
    }),
  )
}
