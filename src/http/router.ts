import type { Result, Router } from 'hono/router'
import { TrieRouter } from 'hono/router/trie-router'
import { createRecent } from '../runtime/recent'

/** Longer paths have a long identifier or search term, which hardly comes again. */
const MAX_LENGTH = 64

/**
 * A router that remembers its last matches: in profiles, searching the trie took more time than any other function of
 * this service. Hono's faster RegExpRouter does not support `/books/search` beside `/books/{book-id}`.
 */
export const createRouter = <Handler>(): Router<Handler> => {
  const trie = new TrieRouter<Handler>()
  const recent = createRecent<Result<Handler>>(1000)
  return {
    name: 'RecentRouter',
    add: (method, path, handler) => trie.add(method, path, handler),
    match: (method, path) => {
      const key = `${method} ${path}`
      const known = recent.get(key)
      if (known) return known
      const result = trie.match(method, path)
      if (key.length <= MAX_LENGTH) recent.set(key, result)
      return result
    },
  }
}
