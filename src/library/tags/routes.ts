import type { MiddlewareHandler } from 'hono'
import { canEditLibrary, canReadLibrary, canWriteLibrary } from '../../callers/authenticated'
import { limitLargePages } from '../../callers/large-reads'
import { limitCaller } from '../../callers/throttle'
import type { App } from '../../env'
import { found } from '../../errors'
import { allowOnly } from '../../http/error-response'
import { Hono } from '../../http/hono'
import { sendPage } from '../../http/send-page'
import { valid } from '../../input/validate'
import { BookPath } from '../books/schema'
import { deleteTag, renameOrMerge } from './rename'
import { BookTags, BookTagsPatch, TaggedQuery, TagQuery, TagRename } from './schema'
import { changeBookTags, listBookTags, listTagged, listTags, setBookTags } from './store'

/** Ten tags of a book change more rows than other writes: they count as a further one. */
const limitTags: MiddlewareHandler<App, string, { out: { json: BookTags | BookTagsPatch } }> = async (c, next) => {
  const { length } = Object.values(c.req.valid('json')).flat()
  for (let left = length; left >= 10; left -= 10) limitCaller(c, { binding: 'WRITE_LIMIT', kind: 'write' })
  await next()
}

export const tags = new Hono<App>()
  .get('/books/tagged', canReadLibrary, valid('query', TaggedQuery), limitLargePages, async (c) =>
    sendPage(c, await listTagged(c.var.db, c.var.caller, c.req.valid('query'))),
  )
  .all('/books/tagged', allowOnly('GET', 'HEAD'))
  .get('/books/:book-id/tags', canReadLibrary, valid('param', BookPath), async (c) => {
    const bookTags = await listBookTags(c.var.db, c.var.caller, c.req.valid('param')['book-id'])
    return c.json(found(bookTags, 'BOOK_NOT_FOUND'), 200)
  })
  .put(
    '/books/:book-id/tags',
    canEditLibrary,
    valid('param', BookPath),
    valid('json', BookTags),
    limitTags,
    async (c) => {
      const bookTags = await setBookTags(c.var.db, c.var.caller, c.req.valid('param')['book-id'], c.req.valid('json'))
      return c.json(found(bookTags, 'BOOK_NOT_FOUND'), 200)
    },
  )
  .patch(
    '/books/:book-id/tags',
    canEditLibrary,
    valid('param', BookPath),
    valid('json', BookTagsPatch),
    limitTags,
    async (c) => {
      const bookTags = await changeBookTags(
        c.var.db,
        c.var.caller,
        c.req.valid('param')['book-id'],
        c.req.valid('json'),
      )
      return c.json(found(bookTags, 'BOOK_NOT_FOUND'), 200)
    },
  )
  .get('/tags', canReadLibrary, async (c) => c.json(await listTags(c.var.db, c.var.caller), 200))
  .patch('/tags', canEditLibrary, valid('json', TagRename), async (c) => {
    const tag = await renameOrMerge(c.var.db, c.var.caller, c.req.valid('json'))
    return c.json(found(tag, 'TAG_NOT_FOUND'), 200)
  })
  .delete('/tags', canWriteLibrary, valid('query', TagQuery), async (c) => {
    found(await deleteTag(c.var.db, c.var.caller, c.req.valid('query').tag), 'TAG_NOT_FOUND')
    return c.body(null, 204)
  })
