import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import type { Service } from './service'

type Usage = { usedSize: number; totalSize: number; embedderHeapUsedSize: number; backingStorageSize: number }

const residentOf = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024

/** Asks the isolate of the Worker itself what it holds: its heap, and the buffers outside of it. */
const openInspector = async (address: URL) => {
  const socket = new WebSocket(new URL('/core:user:service', address).href)
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', reject)
  })
  let asked = 0
  const waiting = new Map<number, (usage: Usage) => void>()
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data))
    waiting.get(id)?.(result)
    waiting.delete(id)
  })
  const call = (method: string) =>
    new Promise<Usage>((resolve) => {
      waiting.set(++asked, resolve)
      socket.send(JSON.stringify({ id: asked, method }))
    })
  const measure = async (isCollecting: boolean) => {
    if (isCollecting) await call('HeapProfiler.collectGarbage')
    const { usedSize, backingStorageSize } = await call('Runtime.getHeapUsage')
    return usedSize + backingStorageSize
  }
  return { measure, close: () => socket.close() }
}

/** The most bytes seen: held by the isolate, which is what the platform limits, and by the whole process around it. */
export type Peak = { isolate: number; process: number }

/**
 * Watches what the service holds while the work is done. It must have been started with `inspected`. When garbage is
 * collected before each look, what is seen is in use; otherwise also what nobody has collected yet.
 */
export const watchMemory = async (
  { pid, inspector }: Service,
  work: () => Promise<unknown>,
  isCollecting = false,
): Promise<Peak> => {
  if (!inspector) throw new Error('The service was started without an inspector')
  const { measure, close } = await openInspector(inspector)
  const peak = { isolate: 0, process: 0 }
  let isOver = false
  const watch = async () => {
    while (!isOver) {
      peak.isolate = Math.max(peak.isolate, await measure(isCollecting))
      peak.process = Math.max(peak.process, residentOf(pid))
      await setTimeout(isCollecting ? 20 : 2)
    }
  }
  const watching = watch()
  try {
    await work()
  } finally {
    isOver = true
    await watching
    close()
  }
  return peak
}
