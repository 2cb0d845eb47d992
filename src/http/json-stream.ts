import type { Context, TypedResponse } from 'hono'

type Streamable = Record<string, unknown>

const isIterable = (value: unknown): value is AsyncIterable<unknown[]> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value

/** The JSON of one array, in chunks. */
async function* toArrayJson(parts: AsyncIterable<unknown[]>, start = '') {
  let bracket = `${start}[`
  for await (const items of parts) {
    if (items.length === 0) continue
    yield `${bracket}${JSON.stringify(items).slice(1, -1)}`
    bracket = ','
  }
  yield bracket === ',' ? ']' : `${bracket}]`
}

/** The JSON of a body, in chunks. A body or a value in it that is an async iterable of arrays becomes one array. */
async function* toJson(body: Streamable | AsyncIterable<unknown[]>) {
  if (isIterable(body)) return yield* toArrayJson(body)
  let separator = '{'
  for (const [key, value] of Object.entries(body)) {
    const start = `${separator}${JSON.stringify(key)}:`
    separator = ','
    if (isIterable(value)) yield* toArrayJson(value, start)
    else yield `${start}${JSON.stringify(value)}`
  }
  yield '}'
}

/** How long a client may take to receive one chunk, which stays in memory until then, and the whole response. */
const STALL_MS = 20_000
const TIMEOUT_MS = 120_000
const encoder = new TextEncoder()

/**
 * Produces a chunk only when the client has read the previous one. Ends the connection if that takes too long.
 * @param end releases what the chunks hold, also if none was read
 */
export const toStream = (chunks: AsyncGenerator<string>, end: () => Promise<unknown>) => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const deadline = Date.now() + TIMEOUT_MS
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        clearTimeout(timer)
        const { done, value } = await chunks.next()
        if (done) return controller.close()
        controller.enqueue(encoder.encode(value))
        const stop = () => {
          controller.error(new Error('The client reads too slowly'))
          end()
        }
        timer = setTimeout(stop, Math.min(STALL_MS, deadline - Date.now()))
      },
      cancel: async () => {
        clearTimeout(timer)
        await end()
      },
    },
    { highWaterMark: 0 },
  )
}

/**
 * Responds 200 with JSON. A body, or a value in it, that is an async iterable of arrays is streamed as one array. If iterating
 * fails, the connection ends before the JSON is complete.
 */
export const sendJson = async <Body extends object>(c: Context, body: object) => {
  const iterables = [body, ...Object.values(body)].filter(isIterable)
  const end = () => Promise.all(iterables.map((iterable) => iterable[Symbol.asyncIterator]().return?.()))
  const toResponse = async () => {
    if (iterables.length === 0) return c.json(body, 200)
    // Nothing reads the body of a response to HEAD.
    if (c.req.method === 'HEAD') await end()
    return c.body(toStream(toJson(body as Streamable), end), 200, { 'Content-Type': 'application/json' })
  }
  return (await toResponse()) as unknown as Response & TypedResponse<Body, 200, 'json'>
}
