// Senders that trickle, while others send at normal speed; and bodies that are too large.
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { pngWithData } from '../../support/images/pictures'
import { toFileForm } from '../../support/inputs/file-form'
import { exchange, type HttpResponse, openSocket } from '../../support/service/http-client'
import { MIB } from '../../support/service/watch-memory'
import { type Attack, countStatuses, createChecks, type Figure } from '../harness/attack'
import { jsonRequest, registerBook, signUp, uploadRequest } from '../harness/members'
import type { Service } from '../harness/service'

const PROMPT_MS = 3000
const TRICKLE_MS = 250
const STALLED_MS = 15_000
/** How long a request may wait for memory that a slow sender must give up. */
const WAIT_MS = 10_000

type Sender = { path: string; network: string; token?: string; type?: string; length?: number }

const headOf = ({ path, network, token, type = 'application/json', length }: Sender) => {
  const framing = length === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`
  const authorization = token ? `Authorization: Bearer ${token}\r\n` : ''
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\nCF-Connecting-IP: ${network}\r\n${authorization}Content-Type: ${type}\r\n${framing}\r\n\r\n`
}

const toChunk = (bytes: Uint8Array) =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])

/** Sends the start of a body, then a byte now and then, until there is a response. */
const trickle = async ({ url }: Service, sender: Sender, start: Uint8Array) => {
  const socket = await openSocket(url)
  const frame = (bytes: Uint8Array) => (sender.length === undefined ? toChunk(bytes) : Buffer.from(bytes))
  const response = exchange(socket, Buffer.concat([Buffer.from(headOf(sender)), frame(start)]))
  const timer = setInterval(() => socket.write(frame(Buffer.from(' '))), TRICKLE_MS)
  const status = await response.then(
    ({ status }) => status,
    () => 0,
  )
  clearInterval(timer)
  socket.destroy()
  return status
}

/** Sends a whole chunked body, in chunks of 64 KiB, and only then reads the response, as many clients do. */
const sendChunked = async ({ url }: Service, sender: Sender, body: Uint8Array): Promise<HttpResponse> => {
  const socket = await openSocket(url)
  const starts = Array.from({ length: Math.ceil(body.length / 65_536) }, (_, n) => n * 65_536)
  const write = promisify<Uint8Array, void>(socket.write.bind(socket))
  // The failed write reports the error, too.
  socket.on('error', () => {})
  socket.setTimeout(STALLED_MS, () => socket.destroy(new Error('The server stopped reading')))
  try {
    await write(Buffer.from(headOf(sender)))
    for (const start of starts) await write(toChunk(body.subarray(start, start + 65_536)))
    return await exchange(socket, Buffer.from('0\r\n\r\n'))
  } finally {
    socket.destroy()
  }
}

export const slow: Attack = async ({ start, quick, progress }) => {
  const service = await start({ uploadsPerMinute: 1e9 })
  const [attacker, reader] = [await signUp(service), await signUp(service)]
  const bookId = await registerBook(service, reader)
  const { check, failures } = createChecks()
  const figures: Figure[] = []

  const expectStatus = async (what: string, status: number, ms: number, send: () => Promise<{ status: number }>) => {
    const begin = performance.now()
    const response = await send().catch((error: Error) => ({ status: error.message }))
    const took = Math.round(performance.now() - begin)
    check(what, response.status, status)
    if (!quick && took > ms) failures.push(`${what}: took ${took} ms`)
    figures.push([`${what}, ms`, took, String(response.status)])
  }

  const memo = { memoBookPage: 1, memoContent: 'x'.repeat(20_000) }
  const memoRequest = jsonRequest('POST', `/memos?bookId=${bookId}`, memo, { token: reader.token })
  const login = Buffer.from('{"email":"a@b.example","password":"x"}')
  const picture = uploadRequest(reader, pngWithData(new Uint8Array(5 * MIB)))
  const expectService = async (during: string, ms: number) => {
    await expectStatus(`memo of 20 KB during ${during}`, 201, ms, () => service.request(memoRequest))
    const sender = { path: '/login', network: '192.0.2.9' }
    await expectStatus(`chunked login during ${during}`, 401, ms, () => sendChunked(service, sender, login))
    await expectStatus(`upload of 5 MiB during ${during}`, 201, ms, () => service.request(picture))
  }

  const senders = (count: number, sender: Omit<Sender, 'network'>, start: Uint8Array) =>
    Array.from({ length: count }, (_, n) => trickle(service, { ...sender, network: `192.0.2.${n}` }, start))
  const upload = { path: '/memos/image-memo', token: attacker.token, type: 'multipart/form-data; boundary=x' }
  const whole = { ...upload, length: 10 * MIB }
  const attacks: [name: string, ms: number, begin: () => Promise<number>[]][] = [
    [
      'four trickled logins and two trickled uploads',
      PROMPT_MS,
      () => [
        ...senders(4, { path: '/login' }, Buffer.alloc(17_000, ' ')),
        ...senders(2, whole, Buffer.alloc(17_000, ' ')),
      ],
    ],
    ['two uploads that stall after 9 MiB', WAIT_MS, () => senders(2, whole, Buffer.alloc(9 * MIB, ' '))],
  ]
  for (const [name, ms, begin] of attacks) {
    progress(name)
    const trickling = begin()
    await setTimeout(1000)
    await expectService(name, ms)
    const statuses = await Promise.all(trickling)
    figures.push([`${name}: responses`, statuses.length, countStatuses(statuses)])
    check(`${name}: responses other than 400`, statuses.filter((status) => status !== 400).length, 0)
  }

  progress('bodies that are too large')
  const { type, body } = toFileForm(pngWithData(new Uint8Array(24 * MIB)))
  const large = { ...upload, type, network: '192.0.2.20' }
  await expectStatus('chunked upload of 24 MiB', 413, PROMPT_MS, () => sendChunked(service, large, body))
  const json = Buffer.alloc(2 * MIB, ' ')
  const sender = { path: '/login', network: '192.0.2.21' }
  await expectStatus('chunked JSON of 2 MiB', 413, PROMPT_MS, () => sendChunked(service, sender, json))
  return { figures, failures }
}
