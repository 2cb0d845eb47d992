import type { Context } from 'hono'
import { confirmFirst } from '../../callers/authenticated'
import type { App } from '../../env'
import { ApiError, unavailable } from '../../errors'
import { withBody } from '../../input/body'
import { getObject, statisticsKey } from '../../storage/bucket'
import { contextOf } from '../../transfer/imports/routes'
import { MAX_FILE_BYTES } from '../../transfer/imports/schema'
import { matchesWeakEtag } from '../../values/text/etags'
import { MAX_ATTEMPTS } from './schema'
import { getReadableState } from './store'
import { etagOf, uploadStatistics } from './upload'

// The handlers of the WebDAV folder for the file of reading statistics, which all devices of a member share.

export const sendStatistics = async (c: Context<App>) => {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const state = await getReadableState(c.var.db, c.var.caller)
    const etag = etagOf(state)
    if (state.file === null || !etag) {
      throw new ApiError('NOT_FOUND', { message: 'No device has uploaded reading statistics' })
    }
    const headers = { ETag: etag, 'Cache-Control': 'private, no-cache' }
    const known = c.req.header('If-None-Match')
    if (known !== undefined && matchesWeakEtag(known, etag)) return c.body(null, 304, headers)
    const about = { ...headers, 'Content-Type': 'application/vnd.sqlite3', 'Content-Length': String(state.bytes) }
    if (c.req.method === 'HEAD') return c.body(null, 200, about)
    const object = await getObject(c.env.IMAGES, statisticsKey(state.memberId, state.file))
    if (object) return c.body(object.body, 200, about)
    // An upload has replaced it meanwhile.
  }
  throw unavailable('statistics change, or lack an object')
}

export const receiveStatistics = async (c: Context<App>) => {
  const conditions = { ifMatch: c.req.header('If-Match'), ifNoneMatch: c.req.header('If-None-Match') }
  c.set('ignoredFields', [])
  let etag = ''
  await withBody(c, 'upload', MAX_FILE_BYTES, async (bytes) => {
    etag = await uploadStatistics(contextOf(c), await confirmFirst(c), bytes, conditions)
  })
  return c.body(null, 204, { ETag: etag })
}
