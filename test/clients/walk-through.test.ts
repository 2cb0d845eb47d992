// Executes the commands of the README in order, on a new service, and compares what they print with the page.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { startService } from '../support/service/dev-server.ts'

type Step = { command: string; printed: string }

/** The shell blocks of a page, except those that start the service, each with the block of output that follows it. */
const stepsOf = (page: string): Step[] =>
  [...page.matchAll(/^```sh\n([^`]*)^```\n(?:```(?:json)?\n([^`]*)^```)?/gm)]
    .map(([, command = '', printed = '']) => ({ command, printed }))
    .filter(({ command }) => !command.startsWith('npm'))

const END_OF_STEP = '\u0004'

/** Without what differs between runs: times and identifiers of sessions. */
const normalize = (printed: string) =>
  printed
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/g, 'TIME')
    .replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, 'UUID')
    .trim()

it('README.md shows what its commands print', async () => {
  const service = await startService()
  onTestFinished(service.stop)
  const steps = stepsOf(readFileSync('README.md', 'utf8'))
  expect(steps).toHaveLength(5)
  // One shell for all commands, as a reader has, so that its variables remain.
  const script = steps.map(({ command }) => `${command}\nprintf '${END_OF_STEP}'\n`).join('')
  const local = script.replaceAll('localhost:8787', new URL(service.base).host)
  const printed = execFileSync('sh', ['-c', local], { encoding: 'utf8' }).split(END_OF_STEP)
  for (const [index, step] of steps.entries()) {
    expect(normalize(printed[index] ?? ''), step.command).toBe(normalize(step.printed))
  }
})
