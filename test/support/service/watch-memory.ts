import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

export const MIB = 1024 * 1024
/** The memory limit of an isolate on Workers. */
export const MEMORY_LIMIT = 128 * MIB
export const toMib = (bytes: number) => Math.round(bytes / MIB)

/** A Worker in a workerd process. */
type Inspected = { name: string; pid: number; inspector: URL | undefined }
type Usage = { usedSize: number; backingStorageSize: number }

/** The resident memory of a process, in bytes. */
export const readResidentMemory = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024

/** Measures the Worker's heap and the buffers outside of it, through the inspector. */
const openInspector = async (address: URL, worker: string) => {
  const socket = new WebSocket(new URL(`/core:user:${worker}`, address).href)
  await once(socket, 'open', { signal: AbortSignal.timeout(10_000) })
  let answer = (_: Usage) => {}
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(data)
    if (id === 1) answer(result)
  })
  /** Undefined while the isolate is too busy to answer. */
  const measure = async () => {
    const { promise, resolve } = Promise.withResolvers<Usage>()
    answer = resolve
    socket.send(JSON.stringify({ id: 1, method: 'Runtime.getHeapUsage' }))
    const usage = await Promise.race([promise, setTimeout(1000)])
    return usage && usage.usedSize + usage.backingStorageSize
  }
  /** What is left after a garbage collection. */
  const measureKept = async () => {
    socket.send(JSON.stringify({ id: 2, method: 'HeapProfiler.collectGarbage' }))
    await setTimeout(500)
    return (await measure()) ?? 0
  }
  return { measure, measureKept, close: () => socket.close() }
}

/**
 * Measures peak memory during `work` in bytes, garbage included: of the isolate of a Worker, which the platform limits, and
 * of the whole process. `kept`: the growth of the isolate, garbage excluded. The process must have been started with an
 * inspector.
 */
export const watchMemory = async ({ pid, inspector, name }: Inspected, work: () => Promise<unknown>) => {
  if (!inspector) throw new Error('The Worker was started without an inspector')
  const { measure, measureKept, close } = await openInspector(inspector, name)
  const before = await measureKept()
  const peak = { isolate: 0, process: 0, kept: 0 }
  let isDone = false
  const watch = async () => {
    while (!isDone) {
      peak.isolate = Math.max(peak.isolate, (await measure()) ?? 0)
      peak.process = Math.max(peak.process, readResidentMemory(pid))
      await setTimeout(2)
    }
  }
  const watching = watch()
  try {
    await work()
  } finally {
    isDone = true
    await watching
    peak.kept = (await measureKept()) - before
    close()
  }
  return peak
}
