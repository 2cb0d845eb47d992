// Devices whose apps end at each request, and go on when the network lets them.
import type { createClient, Kept, Shown, Write } from '../../../docs/offline-client'
import { createDisk } from './memory-store'
import type { Network, Sent } from './network'

type Pending = Sent & { resolve: (response: Response) => void; reject: (error: Error) => void }
export type CreateClient = typeof createClient

type Options = { size: number; now: () => number; createClient: CreateClient }
export const createDevice = (network: Network, name: string, { size, now, createClient }: Options) => {
  const { history } = network
  const disk = createDisk()
  const entriesOf = <Entry>(layer: string) =>
    [...disk.entries].flatMap(([key, value]) => (key.startsWith(layer) ? [JSON.parse(String(value)) as Entry] : []))
  const outbox = () => entriesOf<Write>('outbox/').toSorted((one, other) => one.seq - other.seq)

  /** An app, until it is killed. */
  const start = () => {
    const { store, kill, isKilled } = disk.open()
    let pending: Pending | undefined
    let syncs = 0
    let wake = () => {}
    const client = createClient({
      url: '',
      token: () => '',
      store,
      size,
      now,
      fetch: (path, init) =>
        new Promise((resolve, reject) => {
          if (pending) history.problems.push(`${name} sends ${init.method} ${path} beside ${pending.path}`)
          const write = init.method === 'GET' ? undefined : outbox().find(({ done }) => !done)
          pending = { path, init, write, resolve, reject }
          wake()
        }),
    })
    /** Waits until the app waits for the network, or has nothing to do. */
    const rest = async () => {
      while (syncs > 0 && !pending) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
    let error = ''
    let status = 0
    return {
      client,
      kill,
      isKilled,
      pending: () => pending,
      /** The message of the error that the last sync ended with. */
      error: () => error,
      sync: async () => {
        syncs += 1
        error = ''
        client
          .sync()
          .catch(({ message }) => {
            error = message
            if (!['killed', 'lost'].includes(error) && status < 400) history.problems.push(`${name}: ${error}`)
          })
          .finally(() => {
            syncs -= 1
            wake()
          })
        await rest()
      },
      isSyncing: () => syncs > 0,
      /** Ends the request. */
      answer: async (response: Response | undefined) => {
        const sent = pending
        pending = undefined
        status = response?.status ?? 0
        if (response) sent?.resolve(response)
        else sent?.reject(new Error('lost'))
        await rest()
      },
    }
  }
  const made = new Set<string>()
  return {
    name,
    app: start(),
    start,
    outbox,
    kept: () => entriesOf<Kept>('kept/'),
    made,
    /** The writes that the deletion of a book dropped, with the key of the deletion. */
    dropped: new Map<string, string>(),
    copy: () => entriesOf<Shown>('copy/'),
    /** An object that the user has open, to edit it later. */
    open: undefined as Shown | undefined,
    /** Remembers what the user saw at the writes that an action made. */
    record: (saw: unknown) => {
      for (const { key } of outbox()) {
        if (made.has(key)) continue
        made.add(key)
        network.seen.set(key, saw)
      }
    },
  }
}
export type Device = ReturnType<typeof createDevice>
