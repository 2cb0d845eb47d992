import { beforeAll, expect, it } from 'vitest'
import { type Reader, send, signUp } from '../support/api'
import { toText } from '../support/bytes'
import { BAD_MARKS } from '../support/hostile'
import { formsWithStatus } from './form-statuses'

let reader: Reader
beforeAll(async () => {
  reader = await signUp()
})

const MEMBER_LIMIT = { limit: async () => ({ success: true }) } as RateLimit

it.each(formsWithStatus())('answers a form with $name with $status', async ({ type, body, status }) => {
  const headers = { 'Content-Type': type }
  const answer = await reader.send('POST', '/memos/image-memo', { raw: body, headers, changed: { MEMBER_LIMIT } })
  expect(answer.status).toBe(status)
  if (status !== 201) return
  expect(answer.body).toMatch(/^https:\/\/library\.test\/images\/[1-9]\d*\/[\w-]{22}\.png$/)
  const image = await send('GET', new URL(answer.body).pathname)
  expect(image.headers.get('Content-Type')).toBe('image/png')
  for (const mark of BAD_MARKS) expect(toText(image.body)).not.toContain(mark)
})
