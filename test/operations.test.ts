/// <reference types="vite/types/importMeta.d.ts" />
import { expect, it } from 'vitest'

const sources = import.meta.glob<string>('../src/**/*.ts', { query: '?raw', import: 'default', eager: true })
const [operations = ''] = Object.values(
  import.meta.glob<string>('../docs/operations.md', { query: '?raw', import: 'default', eager: true }),
)

it('says what each line of the log means', () => {
  const messages = Object.values(sources)
    .flatMap((source) => [...source.matchAll(/\blog\(\s*'\w+',\s*['`]([^'`$]+)/g)])
    .map(([, message = '']) => message.split(':')[0]?.trim() ?? '')
  expect(messages.length).toBeGreaterThan(10)
  expect([...new Set(messages)].filter((message) => !operations.includes(`\`${message}`))).toEqual([])
})
