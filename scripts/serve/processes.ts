// workerd goes on if the process that started it is killed: the next start ends it.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const run = (command: string, ...args: string[]) => spawnSync(command, args, { encoding: 'utf8' }).stdout ?? ''

/** The ids of this process's children: from /proc on Linux, otherwise from `pgrep`. */
export const listChildren = () => {
  const file = `/proc/self/task/${process.pid}/children`
  const text = existsSync(file) ? readFileSync(file, 'utf8') : run('pgrep', '-P', String(process.pid))
  return text.trim().split(/\s+/).map(Number)
}

/** The command of a process; empty if there is none. */
const commandOf = (pid: number) => {
  if (!existsSync('/proc/self')) return run('ps', '-o', 'command=', '-p', String(pid))
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}
/** Whether a process runs, and is workerd. */
export const isWorkerd = (pid: number) => /\bworkerd\b/.test(commandOf(pid))

const fileOf = (data: string) => join(data, 'workerd.pid')

/** Records the workerd that uses the data in a folder. */
export const recordWorkerd = (data: string) => writeFileSync(fileOf(data), listChildren().filter(isWorkerd).join(' '))

/** Forgets a workerd that has ended: another process may get its id. */
export const forgetWorkerd = (data: string) => rmSync(fileOf(data), { force: true })

/** Ends a recorded workerd. Call it with the lock of the folder. */
export const endWorkerd = async (data: string) => {
  const recorded = existsSync(fileOf(data)) ? readFileSync(fileOf(data), 'utf8') : ''
  const pid = Number.parseInt(recorded, 10)
  if (!pid || !isWorkerd(pid)) return
  process.kill(pid, 'SIGKILL')
  while (isWorkerd(pid)) await wait(20)
}
