import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import * as attempts from '../../src/db/limits/attempts.ts'
import { FILES } from '../../src/transfer/imports/store.ts'

/** The names of all limits in a value. */
const namesOf = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return []
  return 'windowMs' in value ? [(value as unknown as attempts.Limit).name] : Object.values(value).flatMap(namesOf)
}

it('are in the docs, unless the limit refuses no request', () => {
  const docs = readFileSync('docs/limits.md', 'utf8')
  const names = new Set(namesOf({ ...attempts, FILES }).map((name) => name.replace(/-site$/, '')))
  expect(names.size).toBeGreaterThan(20)
  const missing = [...names].filter((name) => !docs.includes(`(\`${name}\`)`))
  expect(missing.sort()).toEqual(['change-mail', 'listed-failure', 'reset-mail', 'token-mail'])
})
