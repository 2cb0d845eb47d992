import { createClient, expectOk, type Send, type Service } from './service.ts'

/** What can be exported, with the default names of the files. */
export const KINDS = {
  json: { path: '/export', file: 'reading-library.json' },
  csv: { path: '/export.csv', file: 'reading-library.csv' },
  spreadsheet: { path: '/export.csv?for=spreadsheet', file: 'reading-library-spreadsheet.csv' },
  markdown: { path: '/export/memos.md', file: 'memos.md' },
} as const

type Content = AsyncIterable<Uint8Array>

type Options = Service & {
  path: string
  /** Writes a part; the first is 1. Called again for the same part if the connection broke. */
  write: (part: number, content: Content) => Promise<void>
  /** Called as the bytes of a part arrive. */
  reportBytes: (part: number, bytes: number) => void
  report: (line: string) => void
  /** The wait before the second attempt. It doubles before each further one. */
  retryMs?: number
}

const MAX_ATTEMPTS = 4
/** Limits per minute allow requests again after this wait, limits per day do not. */
const MAX_WAIT_MS = 60_000

/** The same request may succeed after a wait. */
class TemporaryError extends Error {
  readonly waitMs: number
  constructor({ message }: Error, waitMs = 0) {
    super(message)
    this.waitMs = waitMs
  }
}

const wait = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms))

/** @throws Error that says why the response is not a file; TemporaryError if a retry within a minute may succeed */
const expectFile = async (response: Response) => {
  const waitMs = Number(response.headers.get('Retry-After') ?? 0) * 1000
  const isTemporary = (response.status === 429 || response.status >= 500) && waitMs <= MAX_WAIT_MS
  await expectOk(response).catch((error: Error) => {
    throw isTemporary ? new TemporaryError(error, waitMs) : error
  })
  if (!response.headers.get('Content-Disposition')?.startsWith('attachment')) {
    throw new Error(`${response.url} did not answer with a file: it is not the Reading Library.`)
  }
}

/**
 * The path of the next part (RFC 8288). Undefined for the last part.
 * @throws Error if it is not a path of an export: the token must not be sent elsewhere
 */
const nextPath = ({ headers }: Response) => {
  const target = /<([^<>]*)>;\s*rel="?next\b/i.exec(headers.get('Link') ?? '')?.[1]
  if (target === undefined || /^\/export\b/.test(target)) return target
  throw new Error(`The next part is at an unexpected address: ${target}`)
}

async function* received({ body }: Response, reportBytes: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader()
  let bytes = 0
  const read = () =>
    reader?.read().catch(() => {
      throw new TemporaryError(new Error('The connection broke.'))
    })
  for (let chunk = await read(); chunk && !chunk.done; chunk = await read()) {
    bytes += chunk.value.length
    reportBytes(bytes)
    yield chunk.value
  }
}

/** Writes a part. Returns the path of the next one. */
const downloadPart = async (send: Send, path: string, part: number, { write, reportBytes }: Options) => {
  const response = await send('GET', path).catch((error: Error) => {
    throw part > 1 ? new TemporaryError(error) : error
  })
  await expectFile(response)
  const next = nextPath(response)
  await write(
    part,
    received(response, (bytes) => reportBytes(part, bytes)),
  )
  return next
}

/** Downloads all parts of an export, and returns how many there are. @throws Error that says what to do */
export const exportLibrary = async (options: Options) => {
  const { report, retryMs = 1000 } = options
  const send = createClient(options)
  const attempt = async (path: string, part: number, number = 1): Promise<string | undefined> => {
    try {
      return await downloadPart(send, path, part, options)
    } catch (error) {
      if (!(error instanceof TemporaryError) || number === MAX_ATTEMPTS) throw error
      const ms = Math.max(error.waitMs, retryMs * 2 ** (number - 1))
      report(`Part ${part}: ${error.message} Retrying in ${ms / 1000} s.`)
      await wait(ms)
      return attempt(path, part, number + 1)
    }
  }
  let parts = 0
  for (let path: string | undefined = options.path; path !== undefined; ) path = await attempt(path, ++parts)
  return parts
}
