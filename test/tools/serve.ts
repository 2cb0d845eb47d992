// The service for one household, started as in its image.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { isBuildOld } from '../../scripts/serve/build.ts'

/** Of the last stage of the Dockerfile. */
const readLine = (instruction: string) =>
  new RegExp(`^${instruction}.*?(\\[.+\\])$`, 'm').exec(readFileSync('Dockerfile', 'utf8'))?.[1] ?? '[]'

/** Where the service runs, and as which user; by default in this repository. */
type Process = { cwd?: string; uid?: number; gid?: number }

/** Runs a command of the Dockerfile with data in a folder. */
export const runInstruction = (
  instruction: 'CMD' | 'HEALTHCHECK',
  data: string,
  env: Record<string, string>,
  options: Process = {},
) => {
  const [, ...args] = (JSON.parse(readLine(instruction)) as string[]).map((each) => (each === '/data' ? data : each))
  // No setting of this machine: HOST, for example.
  const { PATH = '', TMPDIR = '/tmp', NODE_COMPILE_CACHE = '' } = process.env
  return spawn(process.execPath, args, {
    cwd: resolve('.'),
    ...options,
    env: { PATH, TMPDIR, NODE_COMPILE_CACHE, ...env },
  })
}

const linesOf = (child: ChildProcess) => {
  const lines: string[] = []
  for (const input of [child.stdout, child.stderr]) {
    if (input) createInterface({ input }).on('line', (line) => lines.push(line))
  }
  return lines
}

/** Waits until a condition holds: for minutes, as other tests may use all cores. */
export const until = async <T>(find: () => T | undefined | false | Promise<T | undefined | false>, what: string) => {
  for (let waits = 0; waits < 3000; waits++) {
    const found = await find()
    if (found) return found
    await wait(50)
  }
  throw new Error(`In vain: ${what}`)
}

/** Starts the service, and waits for its first sweep, or its end. */
export const startServe = async (data: string, env: Record<string, string> = {}, options: Process = {}) => {
  const child = runInstruction('CMD', data, { PORT: '0', ...env }, options)
  const lines = linesOf(child)
  const ended = once(child, 'exit') as Promise<[code: number | null, signal: string | null]>
  /** Sends a signal, and returns the exit code. */
  const end = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal)
    const [code] = await ended
    return code
  }
  const find = (pattern: RegExp) => pattern.exec(lines.join('\n'))
  const isReady = () => find(/"message":"sweep"/) || child.exitCode !== null
  await until(isReady, 'a service')
  const base = `http://127.0.0.1:${find(/^Serving .+:(\d+)$/m)?.[1]}`
  return {
    child,
    /** All that was printed. */
    lines,
    find,
    base,
    post: async (path: string, body: object, headers: Record<string, string> = {}) => {
      const init = {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'Content-Type': 'application/json', ...headers },
      }
      const response = await fetch(`${base}${path}`, init)
      return { status: response.status, headers: response.headers, text: await response.text() }
    },
    end,
    [Symbol.asyncDispose]: async () => void (await end()),
  }
}

/** Builds the Workers if they are old: once for all files of tests that need them, which run beside each other. */
export const buildWorkers = () => {
  using lock = new DatabaseSync(join(tmpdir(), 'reading-library-build.sqlite'), { timeout: 300_000 })
  lock.exec('begin exclusive')
  if (isBuildOld()) execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'pipe' })
}

/** A server that takes mails, or refuses their recipients once `refuse` was called. */
export const startSmtpServer = async () => {
  let refuses = false
  const mails: { from: string; to: string; text: string }[] = []
  const server = createServer((socket) => {
    const say = (line: string) => socket.write(`${line}\r\n`)
    let mail: (typeof mails)[number] | undefined
    let isData = false
    say('220 test')
    createInterface({ input: socket }).on('line', (line) => {
      const [, verb, address = ''] = /^(\w+)(?:[^<]*<(.*)>)?/.exec(line) ?? []
      if (isData && line === '.') {
        isData = false
        say('250 ok')
      } else if (isData && mail) mail.text += `${line}\n`
      else if (verb === 'MAIL') {
        mail = { from: address, to: '', text: '' }
        say('250 ok')
      } else if (verb === 'RCPT' && mail) {
        if (!refuses) mails.push(Object.assign(mail, { to: address }))
        say(refuses ? `550 no mailbox ${address}` : '250 ok')
      } else if (verb === 'DATA') {
        isData = true
        say('354 go on')
      } else if (verb === 'QUIT') socket.end('221 bye\r\n')
      else say('250 ok')
    })
    socket.on('error', () => {})
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as { port: number }
  const refuse = () => {
    refuses = true
  }
  return { url: `smtp://127.0.0.1:${port}`, mails, refuse }
}
