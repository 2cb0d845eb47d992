import { createScheduledController } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, it, vi } from 'vitest'
import worker from '../../src/index'
import { newEmail, send, signUp } from '../support/api'
import { join, toText } from '../support/bytes'
import { chunk, PNG_SIGNATURE, pngHeader } from '../support/pictures'
import { readStores } from '../support/stores'

it('answers a failed login alike, headers included, whether or not the account exists', async () => {
  const { email } = await signUp()
  const failLogin = async (account: string, network: string) => {
    const headers = { 'CF-Connecting-IP': network }
    const answer = await send('POST', '/login', { body: { email: account, password: 'wrong-password' }, headers })
    return [answer.status, [...answer.headers].filter(([name]) => name !== 'x-request-id'), answer.body]
  }
  expect(await failLogin(email, '192.0.2.77')).toEqual(await failLogin(newEmail(), '192.0.2.78'))
})

it('leaves no trace of a withdrawn member in any row, object or key', async () => {
  const traces = ['zanzibar@withdrawal.test', 'Wolkenkuckucksheim', 'Mnemosyne Hapax', 'PIXELS-OF-ATLANTIS']
  const [email = '', title = '', memoContent = '', pixels = ''] = traces
  const member = await signUp(email)
  const { bookId } = await member.createBook({ title, author: title, publisher: title })
  await member.createMemo(bookId, { memoContent })
  await member.upload(join(PNG_SIGNATURE, pngHeader(4, 1), chunk('IDAT', pixels), chunk('IEND')))
  const findTraces = async () => {
    const contents = await readStores({ database: env.DB, bucket: env.IMAGES, lists: env.CATALOGUE })
    return traces.filter((trace) => contents.some(([, bytes]) => toText(bytes).includes(trace)))
  }
  expect(await findTraces()).toEqual(traces)
  await member.delete('/members/me')
  await worker.scheduled(createScheduledController() as ScheduledController, env)
  await vi.waitFor(async () => expect(await findTraces()).toEqual([]), 5_000)
})
