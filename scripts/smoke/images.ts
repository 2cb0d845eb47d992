import { equal, match, ok } from 'node:assert/strict'
import { crc32, deflateSync } from 'node:zlib'
import { type Answer, answers, error, fieldErrors } from './answer.ts'
import { check, each } from './check.ts'
import type { Member, Service } from './client.ts'

const MiB = 1_048_576
const SECRET = 'taken at 37.5665 N, 126.9780 E'

const chunk = (type: string, data: Buffer) => {
  const typed = Buffer.concat([Buffer.from(type), data])
  const frame = Buffer.alloc(4 + typed.length + 4)
  frame.writeUInt32BE(data.length)
  frame.set(typed, 4)
  frame.writeUInt32BE(crc32(typed), 4 + typed.length)
  return frame
}

/** A picture of two pixels that tells where it was taken, with something behind its end. */
const picture = (trailing = '') =>
  Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', Buffer.from([0, 0, 0, 2, 0, 0, 0, 1, 8, 2, 0, 0, 0])),
    chunk('tEXt', Buffer.from(`Comment\0${SECRET}`)),
    chunk('IDAT', deflateSync(Buffer.from([0, 255, 0, 0, 0, 0, 255]))),
    chunk('IEND', Buffer.alloc(0)),
    Buffer.from(trailing),
  ])

const form = (file: Buffer, { part = 'file', name = 'page.png', type = 'image/png' } = {}) => {
  const head = `--smoke\r\nContent-Disposition: form-data; name="${part}"; filename="${name}"\r\nContent-Type: ${type}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), file, Buffer.from('\r\n--smoke--\r\n')])
}

const upload = (member: Member, body: Buffer, headers: Record<string, string> = {}): Promise<Answer> =>
  member.send('POST', '/memos/image-memo', body, { 'Content-Type': 'multipart/form-data; boundary=smoke', ...headers })

const HOSTILE: [name: string, file: string][] = [
  ['an SVG', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
  ['a page', '<!doctype html><script>alert(1)</script>'],
  ['a script that begins like a GIF', 'GIF89a/*<script>*/=1;alert(1)'],
  ['a PDF', '%PDF-1.7\n'],
  ['half a PNG', picture().toString('latin1').slice(0, 40)],
  ['nothing', ''],
]

/** Uploads of images, and how they are served. */
export const checkImages = async ({ baseUrl, send, signUp, withdraw }: Service) => {
  const member = await signUp()
  let url = ''
  /** At the address that is tried here, wherever the URL leads from outside. */
  const load = (headers: Record<string, string> = {}, method = 'GET') =>
    fetch(baseUrl + new URL(url).pathname, { method, headers, redirect: 'manual' })

  await check('POST /memos/image-memo: 201 with the URL as a JSON string and as Location', async () => {
    const answer = await upload(member, form(picture(), { name: 'evil.html', type: 'text/html' }))
    answers(answer, 201, /^https?:\/\/.+\/images\/\d+\/[\w-]{22,}\.png$/)
    url = String(answer.body)
    equal(answer.headers.get('Location'), url)
  })

  await check('POST /memos/image-memo: the URL as bare text when that is preferred', async () => {
    const { headers, text } = await upload(member, form(picture()), { Accept: 'text/plain' })
    match(headers.get('Content-Type') ?? '', /^text\/plain/)
    match(text, /^https?:/)
  })

  await check('GET /images/…: no token, its own type, a year of caching, nothing that runs', async () => {
    const image = await load()
    equal(image.status, 200)
    equal(image.headers.get('Content-Type'), 'image/png')
    equal(image.headers.get('Cache-Control'), 'public, max-age=31536000, immutable')
    equal(image.headers.get('X-Content-Type-Options'), 'nosniff')
    equal(image.headers.get('Content-Security-Policy'), "default-src 'none'; sandbox")
    equal(image.headers.get('Cross-Origin-Resource-Policy'), 'cross-origin')
  })

  await check('GET /images/…: without what the picture told of places', async () => {
    ok(picture().includes(SECRET))
    ok(!Buffer.from(await (await load()).arrayBuffer()).includes(SECRET))
  })

  await check('GET /images/…: conditional and range requests, and HEAD', async () => {
    const whole = await load()
    const bytes = Buffer.from(await whole.arrayBuffer())
    equal((await load({ 'If-None-Match': whole.headers.get('ETag') ?? '' })).status, 304)
    const part = await load({ Range: 'bytes=1-3' })
    equal(part.status, 206)
    equal(part.headers.get('Content-Range'), `bytes 1-3/${bytes.length}`)
    equal(await part.text(), 'PNG')
    equal((await load({ Range: 'bytes=99999-' })).status, 416)
    const head = await load({}, 'HEAD')
    equal(head.status, 200)
    equal(head.headers.get('Content-Length'), String(bytes.length))
  })

  await check('POST /memos/image-memo: what is no picture is 415', () =>
    each(HOSTILE, async ([, file]) =>
      answers(await upload(member, form(Buffer.from(file, 'latin1'))), 415, error(415)),
    ),
  )

  await check('POST /memos/image-memo: no part `file` is a field error', async () =>
    answers(await upload(member, form(picture(), { part: 'image' })), 400, fieldErrors(['file', null])),
  )

  await check('POST /memos/image-memo: above 10 MiB is 413, another content type 415, nothing 400', async () => {
    answers(await upload(member, form(picture('\0'.repeat(10 * MiB)))), 413, error(413))
    answers(await member.send('POST', '/memos/image-memo', {}), 415, error(415))
    const nothing = await upload(member, Buffer.alloc(0))
    answers(nothing, 400, error(400, 'Required request body is missing'))
  })

  await check('GET /images/…: an image that there is not is 404', async () =>
    answers(await send('GET', `/images/1/${'A'.repeat(22)}.png`), 404, error(404)),
  )

  await check('DELETE /members/me: the images are gone too', async () => {
    answers(await withdraw(member), 204)
    for (let tries = 0; tries < 20 && (await load()).status !== 404; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
    equal((await load()).status, 404)
  })
}
