import type { Context } from 'hono'
import { canReadMemos, canWriteMemos, conditional } from '../../callers/authenticated'
import { throttledByMember, turnsOf } from '../../callers/throttle'
import type { App } from '../../env'
import { found } from '../../errors'
import { allowOnly } from '../../http/error-response'
import { prefers } from '../../http/headers'
import { Hono } from '../../http/hono'
import { imageBase } from '../../http/public-base'
import { keyed } from '../../input/request-key'
import { valid, validFile } from '../../input/validate'
import { MAX_IMAGE_BYTES } from '../images/schema'
import { uploadImage } from '../images/store'
import { drawMemo } from './memo-lists'
import { MemoPatch, MemoPath, NewMemo, NewMemoQuery } from './schema'
import { createMemo, deleteMemo, getMemo, updateMemo } from './store'
import { readIfMatch, type StoredMemo, toEtag } from './versions'

const toBody = <Stored extends StoredMemo>(c: Context<App>, { version, ...memo }: Stored) => {
  c.header('ETag', toEtag(version))
  return memo
}

const canEditMemo = conditional('memos:read', 'memos:write')
const canDeleteMemo = conditional('memos:write')

export const memos = new Hono<App>()
  .get('/random', canReadMemos, async (c) => {
    const memo = await drawMemo(c.var.db, c.var.caller)
    return c.json(memo ? [memo] : [], 200)
  })
  .all('/random', allowOnly('GET', 'HEAD'))
  .post('/image-memo', canWriteMemos, throttledByMember, keyed(), validFile('file', MAX_IMAGE_BYTES), async (c) => {
    const base = imageBase(c)
    const upload = { bytes: c.req.valid('form').file, sources: turnsOf(c) }
    const url = `${base}/${await uploadImage(c.var, c.env, upload)}`
    c.header('Location', url)
    return prefers(c, 'text/plain') ? c.text(url, 201) : c.json(url, 201)
  })
  .all('/image-memo', allowOnly('POST'))
  .post('/', canWriteMemos, keyed('memos:read'), valid('query', NewMemoQuery), valid('json', NewMemo), async (c) => {
    const memo = await createMemo(c.var, c.req.valid('query').bookId, c.req.valid('json'))
    const created = found(memo, 'BOOK_NOT_FOUND')
    return c.json(toBody(c, created), 201, { Location: `/memos/${created.memoId}` })
  })
  .get('/:memo-id', canReadMemos, valid('param', MemoPath), async (c) => {
    const memo = await getMemo(c.var.db, c.var.caller, c.req.valid('param')['memo-id'])
    return c.json(toBody(c, found(memo, 'MEMO_NOT_FOUND')), 200)
  })
  .patch('/:memo-id', canEditMemo, valid('param', MemoPath), valid('json', MemoPatch), async (c) => {
    const expected = readIfMatch(c.req.header('If-Match'))
    const memo = await updateMemo(c.var, c.req.valid('param')['memo-id'], c.req.valid('json'), expected)
    return c.json(toBody(c, found(memo, 'MEMO_NOT_FOUND')), 200)
  })
  .delete('/:memo-id', canDeleteMemo, valid('param', MemoPath), async (c) => {
    const expected = readIfMatch(c.req.header('If-Match'))
    found(await deleteMemo(c.var, c.req.valid('param')['memo-id'], expected), 'MEMO_NOT_FOUND')
    return c.body(null, 204)
  })
