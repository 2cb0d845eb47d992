// A client generated from the served document by a public generator, whose packages are installed here on first use,
// and burden no other install.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startService } from '../support/dev-server.ts'

const FOLDER = import.meta.dirname

/** Runs a program in this folder: what it printed. */
const run = (command: string, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: FOLDER, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`)
}
const runOwn = (program: string, ...args: string[]) => run(join(FOLDER, 'node_modules/.bin', program), ...args)

let service: Awaited<ReturnType<typeof startService>>
beforeAll(async () => {
  if (!existsSync(join(FOLDER, 'node_modules'))) run('npm', 'ci', '--no-audit', '--no-fund')
  service = await startService()
  const document = await fetch(`${service.base}/openapi.json`)
  mkdirSync(join(FOLDER, '.build'), { recursive: true })
  writeFileSync(join(FOLDER, '.build/openapi.json'), await document.text())
  runOwn('openapi-typescript', '.build/openapi.json', '--output', '.build/api.ts')
})
afterAll(() => service?.stop())

it('compiles', () => {
  runOwn('tsc', '-p', '.')
})

it('signs up, logs in, registers a book, writes a memo with an image, and views them', async () => {
  const STORY = './story.ts'
  const { tellStory } = await import(/* @vite-ignore */ STORY)
  const { joined, image, written, detail, library, error } = await tellStory(service.base)
  expect(joined).toEqual({ email: 'generated@example.com', name: 'Reader' })
  expect(written).toMatchObject({ memoId: 1, memoType: 'THOUGHT', memoContent: `<img src="${image}">` })
  expect((await fetch(image)).headers.get('Content-Type')).toBe('image/gif')
  expect(detail).toMatchObject({ bookId: 1, title: 'Demian', memosList: [written] })
  expect(library).toMatchObject({ item: [{ bookId: 1, memoCount: 1 }], pageInfo: { totalElements: 1 } })
  expect(error).toEqual({ status: 404, message: 'Book not found', fieldErrors: null, violationErrors: null })
})
