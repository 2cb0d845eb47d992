/// <reference types="vite/types/importMeta.d.ts" />
import { expect, it } from 'vitest'

const sources = import.meta.glob<string>('../../src/**/*.ts', { query: '?raw', import: 'default', eager: true })
const [operations = ''] = Object.values(
  import.meta.glob<string>('../../docs/operations.md', { query: '?raw', import: 'default', eager: true }),
)

it('docs/operations.md explains every log message', () => {
  const source = Object.values(sources).join('\n')
  const start = (message = '') => message.split(':')[0]?.trim() ?? ''
  const logged = [...source.matchAll(/\blog\(\s*'\w+',\s*['`]([^'`$]+)/g)].map(([, message]) => start(message))
  const causes = [...source.matchAll(/\bunavailable\(\s*['`]([^'`$]+)/g)].map(
    ([, cause]) => `UNAVAILABLE: ${start(cause)}`,
  )
  // The patterns still match the code.
  expect(logged.length).toBeGreaterThan(10)
  expect(causes.length).toBeGreaterThan(2)
  const messages = [...new Set([...logged, ...causes])]
  expect(messages.filter((message) => !operations.includes(`\`${message}`))).toEqual([])
})
