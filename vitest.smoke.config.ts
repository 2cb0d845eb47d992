import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type Reporter, type TestModule, type TestSpecification } from 'vitest/node'

/** Counts the skipped tests by reason. */
const skips: Reporter = {
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

/** In this order: where members are few, the suites that come first get theirs. */
const SUITES = [
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

class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const rank = ({ moduleId }: TestSpecification) => SUITES.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`))
    return files.toSorted((one, other) => rank(one) - rank(other))
  }
}

// The feature tests that need nothing but HTTP, run against a service by `npm run smoke`.
export default defineConfig({
  resolve: {
    alias: [
      { find: /^cloudflare:(test|workers)$/, replacement: join(import.meta.dirname, 'test/support/runner/remote.ts') },
    ],
  },
  test: {
    include: SUITES.map((name) => `test/features/*/${name}.test.ts`),
    setupFiles: ['./test/support/runner/remote-setup.ts'],
    // The Worker's modules use Uint8Array.toBase64.
    pool: 'forks',
    execArgv: ['--js-base-64'],
    // One file at a time in one process: the members are few and shared.
    fileParallelism: false,
    isolate: false,
    sequence: { sequencer: InOrder },
    // A rate limit may make a request wait for a minute.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    reporters: ['verbose', skips],
  },
})
