import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { freePort } from '../support/service/dev-server.ts'
import { createAccount } from './account.ts'
import { createClient, createService } from './service.ts'

const OVERRIDES = 'Cloudflare-Workers-Version-Overrides'

/** What a clone does not have, and what commands do not need. */
const LEFT_OUT = /^(?:\.git|\.wrangler|\.dev\.vars|node_modules|dist|wrangler\..+\.json)$/

/** Answers what needs an account from the fake one, and leaves the rest to wrangler. */
const SHIM = (wrangler: string, client: string) => `#!/bin/sh
case " $* " in *" d1 migrations "*) ;; *" --local "*|*" --dry-run "*) exec ${wrangler} "$@";; esac
exec node ${client} "$@"
`
const CLIENT = `import { appendFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
const body = JSON.stringify({ args: process.argv.slice(2), input: await text(process.stdin) })
const { code, stdout, records } = await (await fetch(process.env.ACCOUNT, { method: 'POST', body })).json()
const path = process.env.WRANGLER_OUTPUT_FILE_PATH
if (path) appendFileSync(path, records.map((record) => JSON.stringify(record) + '\\n').join(''))
console.log(stdout)
for (const { message } of records) if (message) console.error(message)
process.exitCode = code
`
/** Sends requests for deployed Workers to the account. */
const REDIRECT = `const { fetch } = globalThis
globalThis.fetch = (url, options) =>
  fetch(String(url).replace(/^https:..([\\w-]+)\\.(?:mina\\.workers\\.dev|example\\.com)/, process.env.ACCOUNT + '/$1'), options)`

/** Copies what a clone has, with the same packages but for wrangler. */
const createClone = (folder: string) => {
  for (const name of readdirSync('.')) if (!LEFT_OUT.test(name)) cpSync(name, join(folder, name), { recursive: true })
  const [packages, bin] = [join(folder, 'node_modules'), join(folder, 'node_modules/.bin')]
  mkdirSync(bin, { recursive: true })
  for (const name of readdirSync('node_modules')) {
    if (!name.startsWith('.')) symlinkSync(resolve('node_modules', name), join(packages, name))
  }
  for (const name of readdirSync('node_modules/.bin')) {
    if (name !== 'wrangler') symlinkSync(realpathSync(join('node_modules/.bin', name)), join(bin, name))
  }
  const client = join(bin, 'account.mjs')
  writeFileSync(client, CLIENT)
  writeFileSync(join(bin, 'wrangler'), SHIM(resolve('node_modules/.bin/wrangler'), client), { mode: 0o755 })
}

/** As a shell has it in which no `npm run` runs. */
const shellEnvironment = () => {
  const own = Object.entries(process.env).filter(([name]) => !/^(?:npm_|VITEST|NODE_OPTIONS|NODE_ENV)/.test(name))
  const path = (process.env.PATH ?? '').split(':').filter((each) => !each.includes('node_modules'))
  return { ...Object.fromEntries(own), PATH: path.join(':') }
}

/** Variables of the shell, and what the operator types in. */
export type Given = { variables?: Record<string, string> | undefined; input?: string | undefined }
export type Output = { code: number; output: string }

/** An operator's folder, with a fake account that is reached by the commands run in it. */
export const createOperator = async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'reading-library-')))
  createClone(folder)
  const settings = join(folder, 'wrangler.toml')
  writeFileSync(settings, readFileSync(settings, 'utf8').replace(/^port = .+$/m, `port = ${await freePort()}`))
  const account = createAccount(folder, () => service.stop())
  const server = createServer(async (request, response) => {
    const answer = async () => {
      if (request.method === 'POST') {
        const { args, input } = JSON.parse(await text(request))
        return Response.json(await account.wrangler(args, input))
      }
      const override = request.headers['cloudflare-workers-version-overrides']
      return account.fetchHealth(request.url?.split('/')[1] ?? '', override ? { [OVERRIDES]: String(override) } : {})
    }
    const failed = (error: Error) => {
      return { ok: true, json: async () => ({ code: 1, stdout: '', records: [{ message: String(error.stack) }] }) }
    }
    const answered = await answer().catch(failed)
    response.writeHead(answered.ok ? 200 : 503).end(JSON.stringify(answered.ok ? await answered.json() : {}))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const service = createService(folder, account.data, account.production)
  const env: NodeJS.ProcessEnv = {
    ...shellEnvironment(),
    ACCOUNT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(REDIRECT)}`,
    WRANGLER_SEND_METRICS: 'false',
    MAIL_FROM: 'library@example.com',
  }
  const start = (command: string, { variables = {}, input = '' }: Given = {}) => {
    // Its own group: npm does not pass signals on.
    const child = spawn('bash', ['-c', command], {
      cwd: folder,
      env: { ...env, ...variables },
      stdio: 'pipe',
      detached: true,
    })
    child.stdin.on('error', () => {}).end(input)
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk) => {
        output += chunk
      })
    const ended = once(child, 'close').then(([code]) => Number(code ?? 1))
    return { child, ended, output: () => output }
  }
  const stop = async ({ child, ended }: { child: ChildProcess; ended: Promise<number> }) => {
    if (child.pid) process.kill(-child.pid)
    await ended
  }
  return {
    folder,
    account,
    service,
    /** Runs a command to its end. */
    run: async (command: string, given: Given = {}): Promise<Output> => {
      // It has the databases open.
      if (command.includes('--local')) await service.stop()
      const { ended, output } = start(command, given)
      return { code: await ended, output: output() }
    },
    /** Runs a command that serves, until `stop`. */
    serve: async (command: string) => {
      await service.stop()
      const started = start(command)
      const url = await new Promise<string>((settle, fail) => {
        const timer = setInterval(() => {
          const [, found] = /Ready on (http:\S+)/.exec(started.output()) ?? []
          if (found) settle(found)
          if (found) clearInterval(timer)
        }, 200)
        started.ended.then(() => {
          clearInterval(timer)
          fail(new Error(started.output()))
        })
      })
      const client = createClient((path, sent) => fetch(url + path, sent))
      return { ...client, output: started.output, stop: () => stop(started) }
    },
    end: async () => {
      await service.stop()
      server.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
