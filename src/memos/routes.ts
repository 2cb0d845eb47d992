import { Hono } from 'hono'
import { accepts } from 'hono/accepts'
import * as z from 'zod'
import type { App } from '../env'
import { found } from '../errors'
import { authenticated } from '../http/auth'
import { describeRoute, empty, json } from '../http/describe-route'
import { allowOnly } from '../http/error-response'
import { localTime } from '../http/local-time'
import { throttledByMember } from '../http/throttle'
import { valid, validFile } from '../http/validate'
import { imageBase } from '../images/address'
import { MAX_IMAGE_BYTES } from '../images/bucket'
import { uploadImage } from '../images/store'
import { drawMemo } from './lists'
import { ImageUrl, Memo, MemoPatch, MemoPath, NewMemo, NewMemoQuery, RandomMemo } from './schema'
import { createMemo, deleteMemo, getMemo, updateMemo } from './store'

export const memos = new Hono<App>()
  .get(
    '/random',
    authenticated('memos:read'),
    describeRoute({
      operationId: 'drawMemo',
      tags: ['Memos'],
      responses: { 200: json(z.array(RandomMemo).max(1), 'At most one memo') },
    }),
    async (c) => {
      const memo = await drawMemo(c.get('db'), c.get('caller'))
      return c.json(memo ? [memo] : [], 200)
    },
  )
  .all('/random', allowOnly('GET', 'HEAD'))
  .post(
    '/image-memo',
    authenticated('memos:write'),
    throttledByMember,
    describeRoute({
      operationId: 'uploadMemoImage',
      tags: ['Memos'],
      requestHeaders: ['Accept'],
      responses: {
        201: {
          description: 'The URL of the image, as plain text if `Accept` prefers `text/plain`',
          content: { 'application/json': ImageUrl, 'text/plain': ImageUrl },
          headers: ['Location'],
        },
      },
      errors: ['TOO_MANY_PIXELS', 'UNSUPPORTED_IMAGE', 'IMAGE_DAMAGED', 'MAX_MEMBER_IMAGE_BYTES'],
    }),
    validFile('file', MAX_IMAGE_BYTES),
    async (c) => {
      const { db, caller, config } = c.var
      const base = imageBase(c)
      const now = localTime(config.TIME_ZONE)
      const url = `${base}/${await uploadImage(db, caller, c.env.IMAGES, c.req.valid('form').file, now, config)}`
      const type = accepts(c, {
        header: 'Accept',
        supports: ['application/json', 'text/plain'],
        default: 'application/json',
      })
      c.header('Location', url)
      return type === 'text/plain' ? c.text(url, 201) : c.json(url, 201)
    },
  )
  .all('/image-memo', allowOnly('POST'))
  .post(
    '/',
    authenticated('memos:write'),
    describeRoute({
      operationId: 'createMemo',
      tags: ['Memos'],
      responses: { 201: json(Memo, 'The new memo', 'Location') },
      errors: ['BOOK_NOT_FOUND', 'MAX_MEMOS_PER_BOOK', 'MAX_BOOK_TEXT_BYTES', 'MAX_MEMBER_TEXT_BYTES'],
    }),
    valid('query', NewMemoQuery),
    valid('json', NewMemo),
    async (c) => {
      const { db, caller, config } = c.var
      const now = localTime(config.TIME_ZONE)
      const memo = await createMemo(db, caller, c.req.valid('query').bookId, c.req.valid('json'), now, config)
      const created = found(memo, 'BOOK_NOT_FOUND')
      return c.json(created, 201, { Location: `/memos/${created.memoId}` })
    },
  )
  .get(
    '/:memo-id',
    authenticated('memos:read'),
    describeRoute({
      operationId: 'getMemo',
      tags: ['Memos'],
      responses: { 200: json(Memo, 'The memo') },
      errors: ['MEMO_NOT_FOUND'],
    }),
    valid('param', MemoPath),
    async (c) => {
      const memo = await getMemo(c.get('db'), c.get('caller'), c.req.valid('param')['memo-id'])
      return c.json(found(memo, 'MEMO_NOT_FOUND'), 200)
    },
  )
  .patch(
    '/:memo-id',
    authenticated('memos:read', 'memos:write'),
    describeRoute({
      operationId: 'updateMemo',
      tags: ['Memos'],
      responses: { 200: json(Memo, 'The updated memo') },
      errors: ['MEMO_NOT_FOUND', 'MAX_BOOK_TEXT_BYTES', 'MAX_MEMBER_TEXT_BYTES'],
    }),
    valid('param', MemoPath),
    valid('json', MemoPatch),
    async (c) => {
      const { db, caller, config } = c.var
      const now = localTime(config.TIME_ZONE)
      const memo = await updateMemo(db, caller, c.req.valid('param')['memo-id'], c.req.valid('json'), now, config)
      return c.json(found(memo, 'MEMO_NOT_FOUND'), 200)
    },
  )
  .delete(
    '/:memo-id',
    authenticated('memos:write'),
    describeRoute({
      operationId: 'deleteMemo',
      tags: ['Memos'],
      responses: { 204: empty('Deleted') },
      errors: ['MEMO_NOT_FOUND'],
    }),
    valid('param', MemoPath),
    async (c) => {
      found(await deleteMemo(c.get('db'), c.get('caller'), c.req.valid('param')['memo-id']), 'MEMO_NOT_FOUND')
      return c.body(null, 204)
    },
  )
