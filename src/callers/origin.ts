import type { Context } from 'hono'
import type { App } from '../env'
import { toNetwork } from '../values/text/network'

// A table instead of a library: bowser, with the versions of browsers and many crawlers, would add 7.4 KB to the
// compressed Worker, and detect-browser (1.6 KB) does not distinguish iPhone and iPad.

/** The first match counts: Edge also calls itself Chrome, and Chrome also Safari. */
const BROWSERS = [
  ['KakaoTalk', /\bKAKAOTALK\b/],
  ['NAVER', /\bNAVER\(/],
  ['LINE', /\bLine\//],
  ['Instagram', /\bInstagram\b/],
  ['Facebook', /\bFBA[NV]\//],
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\bOP(?:R|T|X|iOS)\/|^Opera\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Whale', /\bWhale\//],
  ['Vivaldi', /\bVivaldi\//],
  ['Yandex Browser', /\bYaBrowser\//],
  ['UC Browser', /\bUCBrowser\//],
  ['DuckDuckGo', /\b(?:Ddg|DuckDuckGo)\//],
  ['Silk', /\bSilk\//],
  ['Electron', /\bElectron\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|Chromium|CriOS)\//],
  ['Safari', /\bVersion\/.*\bSafari\//],
] as const

const PLATFORMS = [
  ['iPhone', /\biP(?:hone|od)\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['Chrome OS', /\bCrOS\b/],
  ['macOS', /\bMac(?:intosh|OS| OS X)\b/i],
  ['Linux', /\b(?:Linux|X11)\b/],
] as const

const findName = (table: readonly (readonly [string, RegExp])[], text: string) =>
  table.find(([, pattern]) => pattern.test(text))?.[0]

const MAX_READ = 512
/** ASCII only, and nothing that a page or a terminal interprets. */
const PRODUCT = /^[A-Za-z][\w .-]{0,39}/

/**
 * A readable name of the client, of at most 64 characters: `Chrome on Windows`, `Safari on iPhone`, or the name by
 * which an app or a library identifies itself, such as `okhttp`. Null if the header is missing or names no client.
 */
export const deviceOf = (userAgent: string | undefined) => {
  const text = userAgent?.slice(0, MAX_READ) ?? ''
  // Every browser claims to be Mozilla. Others start with their own name, as in `Reading/2.1 (iPhone; iOS 18.1)`.
  const isBrowser = /^(?:Mozilla|Opera)\//.test(text)
  const client = isBrowser ? findName(BROWSERS, text) : PRODUCT.exec(text)?.[0].trim()
  return [client, findName(PLATFORMS, text)].filter(Boolean).join(' on ') || null
}

/** The country of the request, as two letters. Null if it is unknown, or the Tor network (`T1`). */
export const countryOf = (c: Context<App>) => {
  const country = (c.req.raw as Request<unknown, IncomingRequestCfProperties>).cf?.country
  return country && /^(?!XX)[A-Z]{2}$/.test(country) ? country : null
}

/** The network a request comes from. Cloudflare sets the header on every request, and clients cannot override it. */
export const networkOf = (c: Context<App>) => toNetwork(c.req.header('CF-Connecting-IP') ?? 'local')

/** Where a request comes from. Members see device and country in their sessions and activity. */
export const originOf = (c: Context<App>) => ({
  network: networkOf(c),
  device: deviceOf(c.req.header('User-Agent')),
  country: countryOf(c),
})
