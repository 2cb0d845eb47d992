import { mergeConfig } from 'vitest/config'
import config from './vitest.config.ts'

const SLOW = [
  'members',
  'sign-up',
  'slots-sign-up',
  'verification',
  'rate-limit',
  'floods',
  'limiter',
  'retry',
  'capacity',
  'catalogue-providers',
  'documented-errors',
  'uploads',
  'random-memo',
  'seed',
  'sessions',
  'activity',
]
/** These need a database without rows of other files. */
const ISOLATED = ['database', 'slots-directory', 'restore', 'openapi']

// The feature tests that neither hash many passwords nor wait, with one Worker for many files.
export default mergeConfig(config, {
  test: {
    isolate: false,
    exclude: ['test/attacks/**', ...[...SLOW, ...ISOLATED].map((name) => `test/features/*/${name}.test.ts`)],
  },
})
