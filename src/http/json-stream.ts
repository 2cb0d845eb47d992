import type { Context, TypedResponse } from 'hono'
import { DEADLINES } from '../runtime/deadlines'

const isIterable = (value: unknown): value is AsyncIterable<unknown[]> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value
const isStreamable = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.values(value).some(isIterable)

/** A text that `take` removes: a generator keeps what it yielded, beside its bytes, until it continues. */
type Chunk = { text: string }

const take = (chunk: Chunk) => {
  const { text } = chunk
  chunk.text = ''
  return text
}

/** The JSON of a value, in chunks. An async iterable of arrays becomes one array, also in an object or its arrays. */
async function* toJson(value: unknown): AsyncGenerator<Chunk | string> {
  if (isIterable(value)) {
    let separator = '['
    for await (const items of value) {
      if (items.some(isStreamable)) {
        for (const item of items) {
          yield separator
          yield* toJson(item)
          separator = ','
        }
      } else if (items.length > 0) {
        yield { text: `${separator}${JSON.stringify(items).slice(1, -1)}` }
        separator = ','
      }
    }
    yield separator === '[' ? '[]' : ']'
  } else if (isStreamable(value)) {
    let separator = '{'
    for (const [key, each] of Object.entries(value)) {
      yield `${separator}${JSON.stringify(key)}:`
      yield* toJson(each)
      separator = ','
    }
    yield '}'
  } else yield JSON.stringify(value)
}

const encoder = new TextEncoder()

/** `end` releases what the chunks hold, also if none was read. */
type Stream = { chunks: AsyncGenerator<Chunk | string>; end: () => Promise<unknown>; timeoutMs: number }

/** Produces a chunk only when the client has read the previous one. Ends the connection if that takes too long. */
const toStream = ({ chunks, end, timeoutMs }: Stream) => {
  let timer: ReturnType<typeof setTimeout> | undefined
  // The connection may keep the stream, and with it the generator, until the client has read what it was sent.
  const release = () => Promise.all([chunks.return(undefined), end()])
  const deadline = Date.now() + timeoutMs
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        clearTimeout(timer)
        const { done, value } = await chunks.next().catch(async (error) => {
          await end()
          throw error
        })
        if (done) return controller.close()
        controller.enqueue(encoder.encode(typeof value === 'string' ? value : take(value)))
        const stop = () => {
          controller.error(new Error('The client reads too slowly'))
          release()
        }
        timer = setTimeout(stop, Math.min(DEADLINES.chunk, deadline - Date.now()))
      },
      cancel: async () => {
        clearTimeout(timer)
        await release()
      },
    },
    { highWaterMark: 0 },
  )
}

const sendStream = async (c: Context, type: string, stream: Stream) => {
  // Nothing reads the body of a response to HEAD.
  if (c.req.method === 'HEAD') await stream.end()
  return c.body(toStream(stream), 200, { 'Content-Type': type })
}

/**
 * Responds 200 with JSON. A body, or a value in it, that is an async iterable of arrays is streamed as one array. If
 * iterating fails, the connection ends before the JSON is complete.
 */
export const sendJson = async <Body extends object>(
  c: Context,
  body: object,
  timeoutMs: number = DEADLINES.response,
) => {
  const iterables = [body, ...Object.values(body)].filter(isIterable)
  const end = () => Promise.all(iterables.map((iterable) => iterable[Symbol.asyncIterator]().return?.()))
  const response =
    iterables.length === 0
      ? c.json(body, 200)
      : await sendStream(c, 'application/json', { chunks: toJson(body), end, timeoutMs })
  return response as unknown as Response & TypedResponse<Body, 200, 'json'>
}

/** Responds 200 with a file of text. If iterating fails, the connection ends before the file is complete. */
export const sendText = async (c: Context, type: string, chunks: AsyncGenerator<string>, end: () => Promise<unknown>) =>
  (await sendStream(c, `${type}; charset=utf-8`, {
    chunks,
    end,
    timeoutMs: DEADLINES.download,
  })) as unknown as Response & TypedResponse<string, 200, 'text'>
