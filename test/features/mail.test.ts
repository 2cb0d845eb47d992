import { Hono } from 'hono'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Bindings, Config } from '../../src/env'
import { type Language, languageOf } from '../../src/http/language'
import { compose } from '../../src/mail/compose'
import type { Mail } from '../../src/mail/mail'
import { maskEmail } from '../../src/mail/mask-email'
import { requireMailer, sendMail } from '../../src/mail/send'

afterEach(() => {
  vi.useRealTimers()
})

const MAILS: Mail[] = [
  { kind: 'verification', code: '123456' },
  { kind: 'passwordReset', code: 'K7QM2-9FXTR' },
  { kind: 'passwordWasReset' },
  { kind: 'emailChange', code: 'K7QM2-9FXTR' },
  { kind: 'emailChanged', undoCode: 'K7QM2-9FXTR-4HJ8W-N6PZC-3BDV5', newEmail: 'jane.doe@example.com' },
  { kind: 'emailTaken' },
  { kind: 'emailRestored' },
  { kind: 'emailReplaced', restoredEmail: 'jane.doe@example.com' },
]
const codeOf = (mail: Mail) => ('code' in mail ? mail.code : 'undoCode' in mail ? mail.undoCode : undefined)

describe.each<Language>(['ko', 'en'])('a mail in %s', (language) => {
  it.each(MAILS)('has the same content in text and HTML: $kind', (mail) => {
    const { subject, text, html } = compose(language, mail)
    const shown = html
      .replace(/^[\s\S]*<body[^>]*>\n/, '')
      .replaceAll(/<\/p>\n/g, '\n\n')
      .replaceAll(/<[^>]+>/g, '')
    expect(shown.trim()).toBe(text.trim())
    expect(html).toContain(`<html lang="${language}">`)
    expect(html).toContain(`<title>${subject}</title>`)
    expect(/[가-힣]/.test(subject) && /[가-힣]/.test(text)).toBe(language === 'ko')
    const code = codeOf(mail)
    if (code) expect(text.split('\n')).toContain(code)
    if (code) expect(html).toContain(`>${code}<`)
  })

  it.each(MAILS)('loads nothing, links nowhere and has a subject of one line: $kind', (mail) => {
    const { subject, text, html } = compose(language, mail)
    expect(html + text).not.toMatch(/https?:|\/\/|\b(?:src|href|background)=|url\(|@import|<(?:img|link|script|a)\b/i)
    expect(subject).toMatch(/^[^\p{Cc}\u2028\u2029]+$/u)
    expect(subject.length).toBeLessThan(60)
  })

  it('starts the subject with the code only to verify an address, because notifications show subjects', () => {
    for (const mail of MAILS) {
      const { subject } = compose(language, mail)
      expect([mail.kind, subject.startsWith('123456 ')]).toEqual([mail.kind, mail.kind === 'verification'])
      expect(subject).not.toContain('K7QM2')
    }
  })

  it('shows no more of another address than its owner needs to recognize it', () => {
    for (const mail of MAILS.filter((each) => JSON.stringify(each).includes('jane'))) {
      const { text, html } = compose(language, mail)
      expect(text).toContain('j***@example.com')
      expect(text + html).not.toContain('jane')
    }
  })

  it('escapes values', () => {
    const { html } = compose(language, { kind: 'emailChanged', undoCode: '<b>&"', newEmail: 'a@<img src=x>' })
    expect(html).toContain('&lt;b&gt;&amp;&quot;')
    expect(html).toContain('***@&lt;img src=x&gt;')
    expect(html).not.toMatch(/<img|&"/)
  })
})

it.each([
  ['jane@example.com', 'j***@example.com'],
  ['j@example.com', 'j***@example.com'],
])('masks %s as %s', (email, masked) => expect(maskEmail(email)).toBe(masked))

describe('Accept-Language', () => {
  const app = new Hono().get('/', (c) => c.text(languageOf(c)))

  it.each<[Language, string | undefined]>([
    ['en', undefined],
    ['en', ''],
    ['en', 'fr-FR, de;q=0.5'],
    ['ko', 'ko'],
    ['ko', 'KO-kr'],
    ['ko', 'ko-KR,ko;q=0.9,en-US;q=0.8,en;q=0.7'],
    ['ko', 'en-US;q=0.2, fr, ko;q=0.3'],
    ['en', 'en-GB, ko;q=0.9'],
    ['en', 'ko;q=0.9, en'],
    ['ko', 'ko, en'],
    ['en', 'en, ko'],
    ['en', 'ko;q=0'],
    ['en', 'ko;q=0, *'],
    ['en', '*'],
    ['en', 'ko;q=0.5, *'],
    ['ko', 'ko, *;q=0.5'],
    ['ko', 'en;q=0.5, *'],
    ['en', 'kok, korean'],
    ['en', ',;q=,='],
  ])('chooses %s by %o', async (language, header) => {
    const headers: Record<string, string> = header === undefined ? {} : { 'Accept-Language': header }
    expect(await (await app.request('/', { headers })).text()).toBe(language)
  })
})

describe('sendMail', () => {
  const CONFIG = { MAIL_FROM: 'library@library.test' } as Config
  const TO = 'Mina@Example.com'
  const mailer = (send: () => Promise<unknown>) => {
    const spy = vi.fn(send)
    return { spy, env: { EMAIL: { send: spy } } as unknown as Bindings }
  }

  it('sends a mail from MAIL_FROM', async () => {
    const { spy, env } = mailer(async () => ({}))
    await sendMail(env, CONFIG, TO, 'en', { kind: 'emailTaken' })
    const from = { email: 'library@library.test', name: 'Reading Library' }
    expect(spy.mock.calls).toEqual([[{ from, to: TO, ...compose('en', { kind: 'emailTaken' }) }]])
  })

  it('tries once, and reports a failure without the address, in whatever case the mailer returns it', async () => {
    const { spy, env } = mailer(() => Promise.reject(new Error('550 <mina@example.com>: no such mailbox')))
    const sent = sendMail(env, CONFIG, TO, 'en', { kind: 'emailTaken' })
    await expect(sent).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      cause: 'mail: Error: 550 (address) no such mailbox',
    })
    expect(spy).toHaveBeenCalledTimes(1)
  })

  it('gives up after ten seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { spy, env } = mailer(() => new Promise(() => {}))
    const sent = sendMail(env, CONFIG, TO, 'en', { kind: 'emailTaken' })
    const refused = expect(sent).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await vi.advanceTimersByTimeAsync(10_000)
    await refused
    expect(spy).toHaveBeenCalledTimes(1)
  })

  it('needs MAIL_FROM and the binding', async () => {
    const { spy, env } = mailer(async () => ({}))
    const unset = { MAIL_FROM: undefined } as Config
    expect(() => requireMailer(unset, env)).toThrow('MAIL_FROM is missing')
    expect(() => requireMailer(CONFIG, {} as Bindings)).toThrow('the binding EMAIL is missing')
    expect(requireMailer(CONFIG, env)).toBe('library@library.test')
    await expect(sendMail(env, unset, TO, 'en', { kind: 'emailTaken' })).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(spy).not.toHaveBeenCalled()
  })
})
