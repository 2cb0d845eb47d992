import { existsSync, globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'

type Mutation = { rule: string; edits: [file: string, from: string, to: string][] }

const LISTS = globSync('test/attacks/data/*-mutations.ts')

it.each(LISTS)('every edit of %s applies to one place', async (path) => {
  const { mutations }: { mutations: Mutation[] } = await import(resolve(path))
  const edits = mutations.flatMap(({ rule, edits }) => edits.map(([file, from, to]) => ({ rule, file, from, to })))
  const applies = ({ file, from, to }: (typeof edits)[number]) =>
    from !== to &&
    (from === '' ? !existsSync(file) && !to.includes('undefined') : readFileSync(file, 'utf8').split(from).length === 2)
  expect(edits.length).toBeGreaterThan(0)
  expect(edits.filter((edit) => !applies(edit)).map(({ rule }) => rule)).toEqual([])
})
