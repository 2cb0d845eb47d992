import type { Store } from './offline-client.ts'

/** Keeps the entries of an offline client in IndexedDB, for all tabs. Also runs on its own in a page. */
export const openStore = async (name: string): Promise<Store> => {
  const done = <Result>(request: IDBRequest<Result>) =>
    new Promise<Result>((resolve, reject) => {
      request.onsuccess = () => resolve(request.result)
      request.onerror = () => reject(request.error)
    })
  const opening = indexedDB.open(name, 1)
  opening.onupgradeneeded = () => opening.result.createObjectStore('entries')
  const database = await done(opening)
  const entries = (mode: IDBTransactionMode) => database.transaction('entries', mode).objectStore('entries')
  return {
    get: (key) => done(entries('readonly').get(key)),
    list: async (prefix) => {
      const store = entries('readonly')
      const range = IDBKeyRange.bound(prefix, `${prefix}\uffff`)
      const [keys, values] = await Promise.all([done(store.getAllKeys(range)), done(store.getAll(range))])
      return keys.map((key, index) => [String(key), values[index]])
    },
    write: (changed) =>
      new Promise((resolve, reject) => {
        const store = entries('readwrite')
        for (const [key, value] of changed) value === undefined ? store.delete(key) : store.put(value, key)
        store.transaction.oncomplete = () => resolve()
        store.transaction.onabort = () => reject(store.transaction.error)
      }),
    lock: (lock, work) => navigator.locks.request(`${name} ${lock}`, work),
  }
}
