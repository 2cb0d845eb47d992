import { mergeConfig } from 'vitest/config'
import config from './vitest.config.ts'

// The feature tests without those that hash many passwords or wait for timeouts.
export default mergeConfig(config, {
  test: {
    exclude: [
      'attacks/*',
      ...['members', 'verification', 'floods', 'turns', 'capacity', 'catalogue-providers'].map(
        (name) => `features/${name}`,
      ),
    ].map((name) => `test/${name}.test.ts`),
  },
})
