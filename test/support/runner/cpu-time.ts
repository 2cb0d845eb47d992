// CPU time from Linux's /proc: of a whole process tree, which Node does not tell.
import { readdirSync, readFileSync } from 'node:fs'

/** Linux reports times in this unit, whatever the kernel's own is. */
const TICKS_PER_SECOND = 100

/** The fields of a process that this file reads, by their positions after the name in proc_pid_stat(5). */
const readStat = (pid: string) => {
  try {
    const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) (?!.*\) )/s)
    const fields = rest.split(' ')
    const times = fields.slice(11, 15).map(Number)
    return { pid, parent: fields[1], seconds: times.reduce((sum, ticks) => sum + ticks, 0) / TICKS_PER_SECOND }
  } catch {
    // It has ended since its folder was listed.
    return undefined
  }
}

/**
 * The CPU time (user and system) in seconds that this process, its descendants, and those that have ended have used.
 * Undefined where there is no /proc.
 */
export const readTreeSeconds = (): number | undefined => {
  const own = readStat('self')
  if (!own) return undefined
  const others = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const processes = others.map(readStat).filter((process) => process !== undefined)
  const childrenOf = Map.groupBy(processes, ({ parent }) => parent)
  const sum = (pid: string): number =>
    (childrenOf.get(pid) ?? []).reduce((total, child) => total + child.seconds + sum(child.pid), 0)
  return own.seconds + sum(String(process.pid))
}
