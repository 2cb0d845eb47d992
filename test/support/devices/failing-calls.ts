// Makes one call of the database or the bucket fail, before or after it takes effect, or it and all later ones.
import { env } from 'cloudflare:workers'
import { changeDatabase, memberDatabase } from '../database'
import { wrapDatabase } from '../wrap-database'

const LOST = 'D1_ERROR: Network connection lost.'
/** How a call fails. */
export const KINDS = ['fails', 'fails afterwards', 'and all later ones fail'] as const

/** Makes the nth call fail. */
const failing = (nth: number, kind: (typeof KINDS)[number]) => {
  let calls = 0
  return async <T>(call: () => Promise<T>) => {
    const isHit = ++calls === nth || (calls > nth && kind === 'and all later ones fail')
    if (isHit && kind !== 'fails afterwards') throw new Error(LOST)
    const result = await call()
    if (isHit) throw new Error(LOST)
    return result
  }
}

/** A database that fails like that, as `changed` of a request. */
export const withDatabase = (...fault: Parameters<typeof failing>) =>
  changeDatabase(wrapDatabase(memberDatabase(), failing(...fault)))
/** A bucket that fails like that, as `changed` of a request. */
export const withBucket = (...fault: Parameters<typeof failing>) => {
  const intercept = failing(...fault)
  const get = (_: R2Bucket, name: keyof R2Bucket) => (key: string, value?: ArrayBuffer) =>
    intercept(async (): Promise<unknown> => (env.IMAGES[name] as typeof env.IMAGES.put)(key, value ?? null))
  return { IMAGES: new Proxy(env.IMAGES, { get }) }
}
