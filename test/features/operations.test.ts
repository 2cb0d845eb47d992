/// <reference types="vite/types/importMeta.d.ts" />
import { expect, it } from 'vitest'

const sources = import.meta.glob<string>('../src/**/*.ts', { query: '?raw', import: 'default', eager: true })
const [operations = ''] = Object.values(
  import.meta.glob<string>('../docs/operations.md', { query: '?raw', import: 'default', eager: true }),
)

it('says what each line of the log means', () => {
  const all = Object.values(sources).join('\n')
  const first = (message = '') => message.split(':')[0]?.trim() ?? ''
  const told = [...all.matchAll(/\blog\(\s*'\w+',\s*['`]([^'`$]+)/g)].map(([, message]) => first(message))
  const causes = [...all.matchAll(/\bunavailable\(\s*['`]([^'`$]+)/g)].map(
    ([, cause]) => `UNAVAILABLE: ${first(cause)}`,
  )
  expect(told.length).toBeGreaterThan(10)
  expect(causes.length).toBeGreaterThan(2)
  const messages = new Set([...told, ...causes])
  expect([...messages].filter((message) => !operations.includes(`\`${message}`))).toEqual([])
})
