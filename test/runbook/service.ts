import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Miniflare } from 'miniflare'
import { drawCover } from '../../scripts/seed/pictures.ts'
import { defineReader, defineWorker, MINIFLARE_OPTIONS } from '../support/service/workerd.ts'
import type { Deployment } from './account.ts'

const PASSWORD = 'read-more-1'

type Options = { token?: string | undefined; body?: unknown; continent?: 'EU' | undefined }
export type Member = { email: string; memberId: number; token: string; image: string }

type Sent = { method: string; headers: Record<string, string>; body?: ArrayBuffer }
type Answer = {
  status: number
  headers: { get: (name: string) => string | null }
  arrayBuffer: () => Promise<ArrayBuffer>
}
type Dispatch = (path: string, sent: Sent, continent?: 'EU') => Promise<Answer>

/** A client of the service. */
export const createClient = (dispatch: Dispatch) => {
  /** Sends JSON or a form. */
  const send = async (method: string, path: string, { token, body, continent }: Options = {}) => {
    const content = body instanceof FormData ? new Response(body) : body === undefined ? undefined : Response.json(body)
    const type = content?.headers.get('Content-Type')
    const headers = { ...(token && { Authorization: token }), ...(type && { 'Content-Type': type }) }
    const sent = { method, headers, ...(content && { body: await content.arrayBuffer() }) }
    const response = await dispatch(path, sent, continent)
    const bytes = Buffer.from(await response.arrayBuffer())
    const isJson = response.headers.get('Content-Type')?.includes('json')
    const json = isJson ? JSON.parse(bytes.toString()) : undefined
    return { status: response.status, authorization: response.headers.get('Authorization') ?? '', bytes, json }
  }
  const get = (path: string, token?: string) => send('GET', path, { token })
  const post = (path: string, body: unknown, token?: string, continent?: 'EU') =>
    send('POST', path, { body, token, continent })
  const signUp = (email: string, continent?: 'EU') =>
    post('/join', { email, name: 'Reader', password: PASSWORD, authenticationCode: '000000' }, undefined, continent)
  const logIn = (email: string) => post('/login', { email, password: PASSWORD })

  return {
    send,
    get,
    post,
    signUp,
    logIn,
    /** Signs up a member with a book, a memo and an image. */
    addMember: async (email: string, continent?: 'EU'): Promise<Member> => {
      await signUp(email, continent)
      const { authorization: token } = await logIn(email)
      const form = new FormData()
      form.append('file', new Blob([drawCover(1)], { type: 'image/png' }), 'cover.png')
      const { json: url } = await post('/memos/image-memo', form, token)
      const { json: book } = await post('/books', { title: 'Low Tide', author: 'Ana Ruiz', bookStatus: 'ING' }, token)
      const memo = { memoBookPage: 1, memoContent: `Read again. <img src="${url}">`, memoType: 'THOUGHT' }
      await post(`/memos?bookId=${book.bookId}`, memo, token)
      const { sub } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
      return { email, memberId: Number(sub), token, image: url }
    },
    /** Statuses of a login, of the library and of the image of a member, and the titles and the number of memos. */
    look: async ({ email, image }: Member) => {
      const { status, authorization } = await logIn(email)
      const { json } = await get('/books/library?page=1&size=10&bookStatus=ING', authorization)
      const { bytes } = await get(new URL(image).pathname)
      const books = json?.item?.map(({ title, memoCount }: { title: string; memoCount: number }) => [title, memoCount])
      return { status, books, isImage: bytes.equals(drawCover(1)) }
    },
  }
}

/** The deployed Worker as it was built in the folder. It starts with the first request after `stop`. */
export const createService = (folder: string, data: string, deployment: Deployment) => {
  let running: Promise<Miniflare> | undefined

  const start = async () => {
    const { config, secrets, ids } = deployment
    const vars = { EMAIL_VERIFICATION: 'off', CATALOGUE_PROVIDER: 'sample', ...(config?.vars as object), ...secrets }
    const databases = config?.d1_databases.map(({ binding, database_name }) => [
      binding,
      { type: 'd1' as const, id: ids[database_name] ?? database_name },
    ])
    const directory = join(folder, 'dist/assets')
    const [htmlHandling, notFoundHandling] = ['none', 'none'] as const
    const contents = readFileSync(join(folder, 'dist/index.js'), 'utf8')
    const modules = { 'index.js': { type: 'esm' as const, contents } }
    const manifest = { mainModule: 'index.js', modulesRoot: '/', modules }
    const worker = defineWorker({
      name: 'service',
      entry: join(folder, 'dist/index.js'),
      vars,
      uploadsPerMinute: 30,
      bindings: {
        EMAIL: { type: 'send-email' as const },
        IMAGES: { type: 'r2' as const, name: 'reading-library-images' },
        ...Object.fromEntries(databases ?? []),
      },
      config: {
        manifest,
        assets: { directory, hasUserWorker: true, runWorkerFirst: true, htmlHandling, notFoundHandling },
      },
    })
    const miniflare = new Miniflare({
      ...MINIFLARE_OPTIONS,
      workers: [worker, defineReader()],
      resourcePersistencePath: join(data, 'v3'),
      handleStructuredLogs: () => {},
    })
    await miniflare.ready
    return miniflare
  }

  const dispatch = async (path: string, init: Sent, continent?: 'EU') => {
    running ??= start()
    return (await running).dispatchFetch(`https://library.test${path}`, {
      ...init,
      ...(continent && { cf: { continent } }),
    })
  }
  return {
    ...createClient(dispatch),
    stop: async () => {
      await (await running)?.dispose()
      running = undefined
    },
  }
}

/** What `look` finds of a member who has everything. */
export const WHOLE = { status: 200, books: [['Low Tide', 1]], isImage: true }
