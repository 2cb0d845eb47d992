import { Hono } from 'hono'
import * as z from 'zod'
import type { App } from '../env'
import { authenticated } from '../http/auth'
import { localTime } from '../http/clock'
import { found, only } from '../http/errors'
import { describe, empty, json } from '../http/openapi'
import { valid } from '../http/validate'
import { Memo, MemoPatch, MemoPath, NewMemo, NewMemoQuery, RandomMemo } from './schema'
import { createMemo, deleteMemo, drawMemo, updateMemo } from './store'

export const memos = new Hono<App>()
  .get(
    '/random',
    authenticated,
    describe({
      summary: 'Draw one memo at random',
      description: 'Each memo is equally likely; an empty array when there is none.',
      tags: ['Memos'],
      responses: { 200: json(z.array(RandomMemo)) },
    }),
    async (c) => {
      const memo = await drawMemo(c.var.db, c.var.caller)
      return c.json(memo ? [memo] : [], 200)
    },
  )
  .all('/random', only('GET', 'HEAD'))
  .post(
    '/',
    authenticated,
    describe({
      summary: 'Write a memo on a book',
      tags: ['Memos'],
      responses: { 201: json(Memo) },
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
    describe({ summary: 'Change a memo', tags: ['Memos'], responses: { 200: json(Memo) }, errors: ['MEMO_NOT_FOUND'] }),
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
      summary: 'Delete a memo',
      tags: ['Memos'],
      responses: { 204: empty('Deleted') },
      errors: ['MEMO_NOT_FOUND'],
    }),
    valid('param', MemoPath),
    async (c) => {
      found(await deleteMemo(c.var.db, c.var.caller, c.req.valid('param')['memo-id']), 'MEMO_NOT_FOUND')
      return c.body(null, 204)
    },
  )
