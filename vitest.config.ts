// Which tests run where: test/README.md explains it.
import { resolve } from 'node:path'
import { cloudflareTest } from '@cloudflare/vitest-pool-workers'
import { defineConfig } from 'vitest/config'
import { measureCosts } from './test/support/runner/costs.ts'
import { inOrder } from './test/support/runner/in-order.ts'
import { SMOKE_PROJECT, SUITES, skips } from './test/support/runner/smoke.ts'
import { buildParts, toWorker } from './test/support/runner/worker.ts'

// Tests start wrangler about a hundred times: compiling it takes half of a start.
process.env.NODE_COMPILE_CACHE ??= resolve('node_modules/.cache/compiled')

/** Folders with the files that take longest: they run first. */
const LONG = ['commands/', 'runbook/', 'browser/', 'shared/', 'clients/', 'tools/']

const isSmoke = process.env.SMOKE !== undefined
if (!isSmoke) buildParts()

/** In no shared Worker: shared/transfer.test.ts says why. */
const ALONE = 'test/features/export/export-large.test.ts'
const SHARED = ['test/shared/{accounts,attacks,functions,library,limits,operations,slots,transfer}.test.ts']
/** What the slot of a member can change. `slot-attacks` brings databases of its own. */
const IN_SLOT = ['test/shared/{accounts,attacks,limits,slot-attacks,transfer}.test.ts']

const COMMON = {
  tags: [
    { name: 'slow', description: 'uses over 0.3 s of CPU time, or waits: npm test leaves it out' },
    { name: 'one-slot', description: 'cannot depend on the slot of members: left out where they are in slot 1' },
  ],
  // They mostly wait: for databases, processes and time limits.
  maxWorkers: 4,
  // Ends tests that hang. It is no limit of how long one may take on a busy machine.
  testTimeout: 600_000,
  hookTimeout: 600_000,
}

/** @param inSlot1 whether every new member is in slot 1 of 2 */
const inWorker = (name: string, include: string[], { exclude = [] as string[], inSlot1 = false } = {}) => ({
  // Otherwise this file would run again for each project.
  extends: false as const,
  plugins: [cloudflareTest(toWorker(inSlot1))],
  test: {
    ...COMMON,
    name,
    include,
    exclude,
    globalSetup: ['./test/support/runner/provider-server.ts'],
    setupFiles: ['./test/support/runner/setup.ts'],
  },
})

const inNode = (name: string, options: object = {}) => ({
  extends: false as const,
  // Without this flag, Node 24 lacks toHex() and toBase64().
  test: { ...COMMON, name, include: [`test/${name}/*.test.ts`], execArgv: ['--js-base-64'], ...options },
})

const PROJECTS = [
  inWorker('worker', [...SHARED, ALONE]),
  inWorker('in-slot', IN_SLOT, { inSlot1: true }),
  // One of the files that share a Worker, by itself.
  inWorker('file', ['test/{features,attacks}/*/*.test.ts'], { exclude: [ALONE] }),
  inNode('growth'),
  inNode('tools'),
  inNode('runbook'),
  // Chromium takes seconds to lay out the reference beside other load.
  inNode('browser', { expect: { poll: { timeout: 60_000 } } }),
  inNode('commands'),
  inNode('clients', { globalSetup: 'test/clients/install.ts' }),
]

export default defineConfig({
  test: {
    projects: isSmoke ? [SMOKE_PROJECT] : PROJECTS,
    sequence: { sequencer: inOrder(isSmoke ? SUITES.map((name) => `${name}.test.ts`) : LONG) },
    reporters: isSmoke
      ? ['verbose', skips]
      : ['default', 'json', ...(process.env.COSTS === '1' ? [measureCosts()] : [])],
    outputFile: { json: 'dist/test-report.json' },
    onConsoleLog: (line) => !/"message":"(?:request|sweep)"/.test(line),
  },
})
