// Devices of a member that run the offline client, for tests in workerd.
import { beforeEach, expect } from 'vitest'
import { createClient, type Shown } from '../../../docs/offline-client'
import { BASE, handle, type Reader, signUp } from '../api'
import { UNLIMITED } from '../rate-limits'
import { createDisk } from './memory-store'

let current: Reader
/** The member whose devices these are: a new one for each test. */
export const reader = () => current
export const useReader = () =>
  beforeEach(async () => {
    current = await signUp()
  })

export type Network = (path: string, method: string, send: () => Promise<Response>) => Promise<Response>
export const online: Network = (_, __, send) => send()

/** A device of the member, whose network tests replace. */
export const createDevice = () => {
  const disk = createDisk()
  const device = { network: online, now: Date.now(), size: 100, sent: [] as string[] }
  const start = () =>
    createClient({
      url: BASE,
      token: () => current.token,
      store: disk.open().store,
      now: () => device.now,
      size: device.size,
      fetch: (url, init) => {
        const path = url.slice(BASE.length)
        device.sent.push(`${init.method} ${path.split('?')[0]}`)
        return device.network(path, init.method, () => handle(new Request(url, init), UNLIMITED))
      },
    })
  return Object.assign(device, { disk, start, app: start() })
}
export type Device = ReturnType<typeof createDevice>

export const syncedDevice = async () => {
  const device = createDevice()
  await device.app.sync()
  return device
}
export const only = async ({ app }: Device, kind: Shown['kind']) => {
  const shown = await app.list(kind)
  expect(shown).toHaveLength(1)
  return shown[0] as Shown
}
/** Loses the answers to writes. */
export const loseAnswers: Network = async (_, method, send) => {
  const response = await send()
  if (method === 'GET') return response
  throw new Error('lost')
}
