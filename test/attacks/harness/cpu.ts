import { readdirSync, readFileSync } from 'node:fs'

/** CPU time that the threads of a process have used so far, in milliseconds. Linux only. */
export const readCpuMs = (pid: number) => {
  const tasks = `/proc/${pid}/task`
  const read = (thread: string) => Number(readFileSync(`${tasks}/${thread}/schedstat`, 'utf8').split(' ')[0])
  return readdirSync(tasks).reduce((sum, thread) => sum + read(thread), 0) / 1e6
}
