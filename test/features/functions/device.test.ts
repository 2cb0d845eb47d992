import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { countryOf, deviceOf } from '../../../src/callers/origin'
import type { App } from '../../../src/env'

const WINDOWS = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)'
const IPHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)'

describe('the device of a User-Agent', () => {
  it.each([
    ['Chrome on Windows', `${WINDOWS} Chrome/131.0.0.0 Safari/537.36`],
    ['Edge on Windows', `${WINDOWS} Chrome/131.0.0.0 Safari/537.36 Edg/131.0.2903.86`],
    ['Opera on Windows', `${WINDOWS} Chrome/130.0.0.0 Safari/537.36 OPR/116.0.0.0`],
    ['Whale on Windows', `${WINDOWS} Chrome/128.0.6613.137 Whale/4.29.282.15 Safari/537.36`],
    ['Electron on Windows', `${WINDOWS} Reader/1.0.0 Chrome/130.0.0.0 Electron/33.0.0 Safari/537.36`],
    [
      'Safari on macOS',
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15',
    ],
    ['Safari on iPhone', `${IPHONE} Version/18.1 Mobile/15E148 Safari/604.1`],
    ['Chrome on iPhone', `${IPHONE} CriOS/131.0.6778.73 Mobile/15E148 Safari/604.1`],
    ['Firefox on iPhone', `${IPHONE} FxiOS/132.0 Mobile/15E148 Safari/605.1.15`],
    ['KakaoTalk on iPhone', `${IPHONE} Mobile/15E148 KAKAOTALK 10.9.5`],
    ['NAVER on iPhone', `${IPHONE} Mobile/15E148 NAVER(inapp; search; 2000; 12.5.1; 14PRO)`],
    ['iPhone', `${IPHONE} Mobile/15E148`],
    [
      'Safari on iPad',
      'Mozilla/5.0 (iPad; CPU OS 17_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.7 Mobile/15E148 Safari/604.1',
    ],
    ['Firefox on Android', 'Mozilla/5.0 (Android 14; Mobile; rv:132.0) Gecko/132.0 Firefox/132.0'],
    [
      'Chrome on Android',
      'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36',
    ],
    [
      'Samsung Internet on Android',
      'Mozilla/5.0 (Linux; Android 14; SM-S928N) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/26.0 Chrome/122.0.0.0 Mobile Safari/537.36',
    ],
    ['Firefox on Linux', 'Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0'],
    [
      'Chrome on Chrome OS',
      'Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
    ],
    ['okhttp', 'okhttp/4.12.0'],
    ['curl', 'curl/8.5.0'],
    ['PostmanRuntime', 'PostmanRuntime/7.42.0'],
    ['python-requests', 'python-requests/2.32.3'],
    ['Dart', 'Dart/3.5 (dart:io)'],
    ['node', 'node'],
    ['ReadingLibrary', 'ReadingLibrary/42 CFNetwork/1568.200.51 Darwin/24.1.0'],
    ['Reading Library on iPhone', 'Reading Library/2.1 (iPhone; iOS 18.1)'],
    ['Dalvik on Android', 'Dalvik/2.1.0 (Linux; U; Android 14; Pixel 8 Build/UD1A)'],
  ])('is %s', (device, userAgent) => expect(deviceOf(userAgent)).toBe(device))

  it.each([undefined, '', ' ', 'Mozilla/5.0', '<script>alert(1)</script>', '\u001b[31mred', '책방/1.0'])(
    'is null for %o',
    (userAgent) => expect(deviceOf(userAgent)).toBeNull(),
  )

  it('has at most 64 printable characters, whatever is sent', () => {
    const hostile = [
      'a'.repeat(8000),
      `${'Reader '.repeat(20)}iPhone`,
      'curl\u0000\u001b[2J\r\nX: y',
      'a\u202eb/1 Windows',
    ]
    for (const userAgent of hostile) expect(deviceOf(userAgent)).toMatch(/^[ -~]{1,64}$/)
    expect(deviceOf('curl\r\nX: y')).toBe('curl')
    expect(deviceOf(`${' '.repeat(600)}Windows`)).toBeNull()
  })
})

describe('the country of a request', () => {
  const app = new Hono<App>().get('/', (c) => c.json(countryOf(c)))

  it.each([
    ['KR', 'KR'],
    ['T1', null],
    ['XX', null],
    ['', null],
    [undefined, null],
  ])('of %o is %o', async (country, expected) => {
    const request = new Request('https://library.test/', { cf: { country } } as RequestInit)
    expect(await (await app.request(request)).json()).toBe(expected)
  })

  it('is null where Cloudflare adds nothing to the request', async () => {
    expect(await (await app.request('/')).json()).toBeNull()
  })
})
