/// <reference types="vite/types/importMeta.d.ts" />
import { expect, it } from 'vitest'
import operations from '../../../docs/operations.md?raw'

const sources = import.meta.glob<string>('../../../src/**/*.ts', { query: '?raw', import: 'default', eager: true })

it('docs/operations.md explains every log message', () => {
  const source = Object.values(sources).join('\n')
  const start = (message = '') => message.split(':')[0]?.trim() ?? ''
  const logged = [...source.matchAll(/\blog\(\s*'\w+',\s*['`]([^'`$]+)/g)].map(([, message]) => start(message))
  const unavailable = source.matchAll(/\bunavailable\(\s*['`]([^'`$]+)/g)
  const causes = [...unavailable].map(([, cause]) => `UNAVAILABLE: ${start(cause)}`)
  // The patterns still match the code.
  expect(logged.length).toBeGreaterThan(10)
  expect(causes.length).toBeGreaterThan(2)
  const messages = [...new Set([...logged, ...causes])]
  expect(messages.filter((message) => !operations.includes(`\`${message}`))).toEqual([])
})
