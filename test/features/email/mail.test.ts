import { env as worker } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { withoutTag } from '../../../src/accounts/codes/mail-limits'
import { compose as composeWith, maskEmail } from '../../../src/accounts/mail/compose'
import { requireMailer, sendMail } from '../../../src/accounts/mail/send'
import type { Mail } from '../../../src/accounts/mail/texts'
import type { Bindings, Config } from '../../../src/env'
import { DEADLINES } from '../../../src/runtime/deadlines'
import { eventually, holdClock } from '../../support/runtime/clock'

afterEach(() => {
  vi.useRealTimers()
})

const MAILS: Mail[] = [
  { kind: 'verification', code: '123456' },
  { kind: 'passwordReset', code: 'K7QM2-9FXTR' },
  { kind: 'passwordWasReset' },
  { kind: 'emailChange', code: 'K7QM2-9FXTR', isReturn: false },
  { kind: 'emailChange', code: 'K7QM2-9FXTR', isReturn: true },
  { kind: 'emailChanged', undoCode: 'K7QM2-9FXTR-4HJ8W-N6PZC-3BDV5', newEmail: 'jane.doe@example.com' },
  { kind: 'emailTaken' },
  { kind: 'emailRestored' },
  { kind: 'emailRestored', code: 'K7QM2-9FXTR' },
  { kind: 'emailReplaced', restoredEmail: 'jane.doe@example.com' },
  { kind: 'tokenCreated', tokens: 3, links: 2 },
]
const codeOf = (mail: Mail) => ('code' in mail ? mail.code : 'undoCode' in mail ? mail.undoCode : undefined)

const compose = (mail: Mail) => composeWith(worker.ASSETS, mail)

const KOREAN = /[가-힣]/

describe('a mail', () => {
  it.each(MAILS)('is in English and Korean, with the same content in text and HTML: $kind', async (mail) => {
    const { subject, text, html } = await compose(mail)
    const shown = html
      .replace(/^[\s\S]*<body[^>]*>\n/, '')
      .replaceAll(/<\/p>\n/g, '\n\n')
      .replaceAll('<hr>', '---\n')
      .replaceAll(/<\/?(?:div|body|html)[^>]*>\n/g, '')
      .replaceAll(/<[^>]+>/g, '')
    expect(shown.trim()).toBe(text.trim())
    expect(html).toContain(`<title>${subject}</title>`)
    const parts = [...html.matchAll(/<div lang="(\w\w)">([\s\S]*?)<\/div>/g)]
    expect(parts.map(([, language, part = '']) => [language, KOREAN.test(part)])).toEqual([
      ['en', false],
      ['ko', true],
    ])
    expect(subject.split(' / ').map((part) => KOREAN.test(part))).toEqual([false, true])
    const code = codeOf(mail)
    if (code) expect(text.split('\n').filter((line) => line === code)).toHaveLength(2)
    if (code) expect(html.split(`>${code}<`)).toHaveLength(3)
  })

  it.each(MAILS)('loads nothing, links nowhere and has a subject of one line: $kind', async (mail) => {
    const { subject, text, html } = await compose(mail)
    expect(html + text).not.toMatch(/https?:|\/\/|\b(?:src|href|background)=|url\(|@import|<(?:img|link|script|a)\b/i)
    expect(subject).toMatch(/^[^\p{Cc}\u2028\u2029]+$/u)
    // RFC 5322 recommends lines of at most 78 characters.
    expect(subject.length).toBeLessThanOrEqual(78)
  })

  it('starts the subject with the code only to verify an address, because notifications show subjects', async () => {
    for (const mail of MAILS) {
      const { subject } = await compose(mail)
      expect([mail.kind, subject.startsWith('123456 ')]).toEqual([mail.kind, mail.kind === 'verification'])
      expect(subject).not.toContain('K7QM2')
    }
  })

  it('shows no more of another address than its owner needs to recognize it', async () => {
    for (const mail of MAILS.filter((each) => JSON.stringify(each).includes('jane'))) {
      const { text, html } = await compose(mail)
      expect(text.split('j***@example.com')).toHaveLength(3)
      expect(text + html).not.toContain('jane')
    }
  })

  it('escapes values', async () => {
    const { html } = await compose({ kind: 'emailChanged', undoCode: '<b>&"', newEmail: 'a@<img src=x>' })
    expect(html).toContain('&lt;b&gt;&amp;&quot;')
    expect(html).toContain('***@&lt;img src=x&gt;')
    expect(html).not.toMatch(/<img|&"/)
  })
})

it.each([
  ['jane@example.com', 'j***@example.com'],
  ['j@example.com', 'j***@example.com'],
])('masks %s as %s', (email, masked) => expect(maskEmail(email)).toBe(masked))

it.each([
  ['jane@example.com', 'jane@example.com'],
  ['jane+books@example.com', 'jane@example.com'],
  ['jane+a+b@example.com', 'jane@example.com'],
  ['+jane@example.com', '+jane@example.com'],
])('counts mails to %s as mails to %s', (email, counted) => expect(withoutTag(email)).toBe(counted))

describe('sendMail', () => {
  const CONFIG = { MAIL_FROM: 'library@library.test' } as Config
  const TO = 'Mina@Example.com'
  const mailer = (send: () => Promise<unknown>) => {
    const spy = vi.fn(send)
    return { spy, env: { ASSETS: worker.ASSETS, EMAIL: { send: spy } } as unknown as Bindings }
  }

  it('sends a mail from MAIL_FROM', async () => {
    const { spy, env } = mailer(async () => ({}))
    await sendMail(env, CONFIG, TO, { kind: 'emailTaken' })
    const from = { email: 'library@library.test', name: 'Reading Library' }
    expect(spy.mock.calls).toEqual([[{ from, to: TO, ...(await compose({ kind: 'emailTaken' })) }]])
  })

  it('tries once, and reports a failure without the address, in whatever case the mailer returns it', async () => {
    const { spy, env } = mailer(() => Promise.reject(new Error('550 <mina@example.com>: no such mailbox')))
    const sent = sendMail(env, CONFIG, TO, { kind: 'emailTaken' })
    await expect(sent).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      cause: 'mail: Error: 550 (address) no such mailbox',
    })
    expect(spy).toHaveBeenCalledTimes(1)
  })

  it('gives up after its deadline', async () => {
    holdClock()
    const { spy, env } = mailer(() => new Promise(() => {}))
    const sent = sendMail(env, CONFIG, TO, { kind: 'emailTaken' })
    const refused = expect(sent).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await eventually(() => expect(spy).toHaveBeenCalled())
    await vi.advanceTimersByTimeAsync(DEADLINES.mail)
    await refused
    expect(spy).toHaveBeenCalledTimes(1)
  })

  it('needs MAIL_FROM and the binding', async () => {
    const { spy, env } = mailer(async () => ({}))
    const unset = { MAIL_FROM: undefined } as Config
    expect(() => requireMailer(unset, env)).toThrow('MAIL_FROM is missing')
    expect(() => requireMailer(CONFIG, {} as Bindings)).toThrow('the binding EMAIL is missing')
    expect(requireMailer(CONFIG, env)).toBe('library@library.test')
    await expect(sendMail(env, unset, TO, { kind: 'emailTaken' })).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(spy).not.toHaveBeenCalled()
  })
})
