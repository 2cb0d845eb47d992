import { Hono } from 'hono'
import { accepts } from 'hono/accepts'
import type { App } from '../../env'
import { found } from '../../errors'
import { valid, validFile } from '../../http/bodies/validate'
import { allowOnly } from '../../http/error-response'
import { authenticated, canReadMemos, canWriteMemos } from '../../http/guard/authenticated'
import { throttledByMember, turnsOf } from '../../http/guard/throttle'
import { imageBase } from '../../http/image-base'
import { localTime } from '../../values/time'
import { MAX_IMAGE_BYTES } from '../images/bucket'
import { uploadImage } from '../images/store'
import { drawMemo } from './memo-lists'
import { MemoPatch, MemoPath, NewMemo, NewMemoQuery } from './schema'
import { createMemo, deleteMemo, getMemo, updateMemo } from './store'

export const memos = new Hono<App>()
  .get('/random', canReadMemos, async (c) => {
    const memo = await drawMemo(c.var.db, c.var.caller)
    return c.json(memo ? [memo] : [], 200)
  })
  .all('/random', allowOnly('GET', 'HEAD'))
  .post('/image-memo', canWriteMemos, throttledByMember, validFile('file', MAX_IMAGE_BYTES), async (c) => {
    const { db, caller, config } = c.var
    const base = imageBase(c)
    const now = localTime(config.TIME_ZONE)
    const upload = { bytes: c.req.valid('form').file, sources: turnsOf(c) }
    const url = `${base}/${await uploadImage(db, caller, c.env.IMAGES, upload, now, config)}`
    const type = accepts(c, {
      header: 'Accept',
      supports: ['application/json', 'text/plain'],
      default: 'application/json',
    })
    c.header('Location', url)
    return type === 'text/plain' ? c.text(url, 201) : c.json(url, 201)
  })
  .all('/image-memo', allowOnly('POST'))
  .post('/', canWriteMemos, valid('query', NewMemoQuery), valid('json', NewMemo), async (c) => {
    const { db, caller, config } = c.var
    const now = localTime(config.TIME_ZONE)
    const memo = await createMemo(db, caller, c.req.valid('query').bookId, c.req.valid('json'), now, config)
    const created = found(memo, 'BOOK_NOT_FOUND')
    return c.json(created, 201, { Location: `/memos/${created.memoId}` })
  })
  .get('/:memo-id', canReadMemos, valid('param', MemoPath), async (c) => {
    const memo = await getMemo(c.var.db, c.var.caller, c.req.valid('param')['memo-id'])
    return c.json(found(memo, 'MEMO_NOT_FOUND'), 200)
  })
  .patch(
    '/:memo-id',
    authenticated('memos:read', 'memos:write'),
    valid('param', MemoPath),
    valid('json', MemoPatch),
    async (c) => {
      const { db, caller, config } = c.var
      const now = localTime(config.TIME_ZONE)
      const memo = await updateMemo(db, caller, c.req.valid('param')['memo-id'], c.req.valid('json'), now, config)
      return c.json(found(memo, 'MEMO_NOT_FOUND'), 200)
    },
  )
  .delete('/:memo-id', canWriteMemos, valid('param', MemoPath), async (c) => {
    found(await deleteMemo(c.var.db, c.var.caller, c.req.valid('param')['memo-id']), 'MEMO_NOT_FOUND')
    return c.body(null, 204)
  })
