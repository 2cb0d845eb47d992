// The project of `npm run smoke`: the feature tests that need nothing but HTTP, against a running service.
import { join } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

/** In this order: where members are few, the suites that come first get theirs. */
export const SUITES = [
  'views',
  'random-memo',
  'members',
  'sign-up',
  'uploads',
  'images',
  'books',
  'memos',
  'catalogue',
  'bodies',
  'transport',
  'docs',
]

/** Counts the skipped tests by reason. */
export const skips: Reporter = {
  onTestRunEnd: (modules: readonly TestModule[]) => {
    const reasons = new Map<string, number>()
    for (const test of modules.flatMap(({ children }) => [...children.allTests('skipped')])) {
      const result = test.result()
      const reason = (result.state === 'skipped' && result.note) || 'needs a new member, or the Worker itself'
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
    }
    for (const [reason, count] of reasons) console.log(`Skipped ${count} tests: ${reason}`)
  },
}

export const SMOKE_PROJECT = {
  extends: false as const,
  resolve: {
    alias: [{ find: /^cloudflare:(test|workers)$/, replacement: join(import.meta.dirname, 'remote.ts') }],
  },
  test: {
    name: 'smoke',
    // The tags of the other projects are not defined here.
    strictTags: false,
    include: SUITES.map((name) => `test/features/*/${name}.test.ts`),
    setupFiles: [join(import.meta.dirname, 'remote-setup.ts')],
    // The Worker's modules use Uint8Array.toBase64.
    execArgv: ['--js-base-64'],
    // One file at a time in one process: the members are few and shared.
    fileParallelism: false,
    isolate: false,
    // A rate limit may make a request wait for a minute.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
}
