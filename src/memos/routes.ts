import { Hono } from 'hono'
import { accepts } from 'hono/accepts'
import * as z from 'zod'
import type { App } from '../env'
import { authenticated } from '../http/auth'
import { localTime } from '../http/clock'
import { describe, empty, json } from '../http/describe'
import { found, only } from '../http/errors'
import { throttledByMember } from '../http/throttle'
import { valid, validFile } from '../http/validate'
import { imageBase } from '../images/address'
import { MAX_IMAGE_BYTES, storeImage } from '../images/bucket'
import { ImageUrl, Memo, MemoPatch, MemoPath, NewMemo, NewMemoQuery, RandomMemo } from './schema'
import { confirmCaller, createMemo, deleteMemo, drawMemo, updateMemo } from './store'

export const memos = new Hono<App>()
  .get(
    '/random',
    authenticated,
    describe({
      operationId: 'drawMemo',
      summary: 'Draw one memo at random',
      description: 'Each memo is equally likely; an empty array when there is none.',
      tags: ['Memos'],
      responses: { 200: json(z.array(RandomMemo).max(1), 'The memo drawn') },
    }),
    async (c) => {
      const memo = await drawMemo(c.get('db'), c.get('caller'))
      return c.json(memo ? [memo] : [], 200)
    },
  )
  .all('/random', only('GET', 'HEAD'))
  .post(
    '/image-memo',
    authenticated,
    throttledByMember,
    describe({
      operationId: 'uploadMemoImage',
      summary: 'Upload an image for a memo',
      description:
        'PNG, JPEG, GIF, WebP or AVIF by content, at most 10 MiB. Answers its URL, which needs no token and cannot be guessed. ' +
        'Place, camera and time are removed; the orientation is kept.',
      tags: ['Memos'],
      responses: {
        201: {
          description: 'Its URL; as bare text where `Accept` prefers that',
          content: { 'application/json': ImageUrl, 'text/plain': ImageUrl },
          headers: ['Location'],
        },
      },
    }),
    validFile('file', MAX_IMAGE_BYTES),
    async (c) => {
      const base = imageBase(c)
      const { file } = c.req.valid('form')
      await confirmCaller(c.get('db'), c.get('caller'))
      const url = `${base}/${await storeImage(c.env.IMAGES, c.get('caller').memberId, file)}`
      const isText = accepts(c, {
        header: 'Accept',
        supports: ['application/json', 'text/plain'],
        default: 'application/json',
      })
      c.header('Location', url)
      return isText === 'text/plain' ? c.text(url, 201) : c.json(url, 201)
    },
  )
  .all('/image-memo', only('POST'))
  .post(
    '/',
    authenticated,
    describe({
      operationId: 'createMemo',
      summary: 'Write a memo on a book',
      description: 'The content is kept exactly as sent: where it is HTML, cleaning it is the client’s part.',
      tags: ['Memos'],
      responses: { 201: json(Memo, 'Written', 'Location') },
      errors: ['BOOK_NOT_FOUND'],
    }),
    valid('query', NewMemoQuery),
    valid('json', NewMemo),
    async (c) => {
      const { db, caller, config } = c.var
      const now = localTime(config.TIME_ZONE)
      const memo = await createMemo(db, caller, c.req.valid('query').bookId, c.req.valid('json'), now)
      const created = found(memo, 'BOOK_NOT_FOUND')
      return c.json(created, 201, { Location: `/memos/${created.memoId}` })
    },
  )
  .patch(
    '/:memo-id',
    authenticated,
    describe({
      operationId: 'updateMemo',
      summary: 'Change a memo',
      description: 'What is absent stays as it is.',
      tags: ['Memos'],
      responses: { 200: json(Memo, 'The memo afterwards') },
      errors: ['MEMO_NOT_FOUND'],
    }),
    valid('param', MemoPath),
    valid('json', MemoPatch),
    async (c) => {
      const { db, caller, config } = c.var
      const now = localTime(config.TIME_ZONE)
      const memo = await updateMemo(db, caller, c.req.valid('param')['memo-id'], c.req.valid('json'), now)
      return c.json(found(memo, 'MEMO_NOT_FOUND'), 200)
    },
  )
  .delete(
    '/:memo-id',
    authenticated,
    describe({
      operationId: 'deleteMemo',
      summary: 'Delete a memo',
      description: 'It cannot be undone; a second deletion is 404.',
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
