// Made-up and mutated access tokens, none of which may be accepted.
import * as fc from 'fast-check'
import { computeCrc } from '../../../src/values/crc'
import { type ApiRequest, type ApiResponse, isChallenge } from './isolation'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SLOTS = 62 ** 3

const toBase62 = (number: number, length: number) =>
  Array.from({ length }, (_, at) => DIGITS[Math.floor(number / 62 ** (length - 1 - at)) % 62]).join('')
/** A token of these thirty characters with the right checksum. */
const seal = (body: string) => `rl_${body}${toBase62(computeCrc(new TextEncoder().encode(body)), 6)}`

/** Look-alikes of the characters of tokens. */
const LOOKALIKES: Record<string, string> = {
  ...{ r: '\u0433', l: '\u04cf', _: '\uff3f', '0': '\u041e', O: '0', o: '\u043e', '1': 'l', I: 'l' },
  ...{ a: '\u0430', c: '\u0441', e: '\u0435', p: '\u0440', x: '\u0445', y: '\u0443', A: '\u0391', B: '\u0412' },
  ...{ E: '\u0415', H: '\u041d', K: '\u212a', M: '\u041c', P: '\u0420', T: '\u0422', X: '\u0425', s: '\u017f' },
}
const fullWidth = (character: string) => String.fromCodePoint((character.codePointAt(0) ?? 0) + 0xfee0)

const SQL = [
  `rl_'or/**/1=1--`,
  `rl_'/**/union/**/select/**/memberId,1/**/from/**/members--`,
  `rl_";drop/**/table/**/accessTokens;--`,
  `rl_%`,
  `rl_${'_'.repeat(36)}`,
  `rl_${'%'.repeat(36)}`,
  `rl_null`,
  `rl_\\`,
]

const digit = fc.constantFrom(...DIGITS)
const digits = (length: number) => fc.string({ unit: digit, minLength: length, maxLength: length })
const replaceAt = (text: string, at: number, by: string) => text.slice(0, at) + by + text.slice(at + 1)
const isVisible = (text: string) => /^[\x21-\x7e]+$/.test(text)

/** Forgeries of a valid token, by kind. Its SHA-256 is one of them. */
const forgery = (known: string, hash: string) => {
  const body = known.slice(3, 33)
  const at = fc.nat(known.length - 1)
  const slot = fc.oneof(fc.nat(20), fc.nat(8191), fc.integer({ min: 8192, max: SLOTS - 1 }))
  const kinds: Record<string, fc.Arbitrary<string>> = {
    'a flipped bit': fc
      .tuple(at, fc.nat(6))
      .map(([index, bit]) => replaceAt(known, index, String.fromCharCode(known.charCodeAt(index) ^ (1 << bit))))
      .filter(isVisible),
    'a flipped bit, with the right checksum': fc
      .tuple(fc.integer({ min: 3, max: 29 }), fc.nat(6))
      .map(([index, bit]) => replaceAt(body, index, String.fromCharCode(body.charCodeAt(index) ^ (1 << bit))))
      .filter(isVisible)
      .map(seal),
    'another character, with the right checksum': fc
      .tuple(fc.nat(29), digit)
      .map(([index, other]) => seal(replaceAt(body, index, other))),
    'the right checksum': digits(30).map(seal),
    'the right slot and checksum': digits(27).map((random) => seal(body.slice(0, 3) + random)),
    'another slot, with the right checksum': slot.map((other) => seal(toBase62(other, 3) + body.slice(3))),
    'a wrong checksum': digits(6).map((sum) => known.slice(0, 33) + sum),
    'a prefix game': fc
      .tuple(fc.integer({ min: 2, max: 200 }), fc.constantFrom('', known, known.slice(3), body, hash))
      .chain(([count, rest]) =>
        fc.constantFrom(
          'rl_'.repeat(count) + rest,
          `RL_${rest}`,
          `rl-${rest}`,
          `rl__${rest}`,
          `rl${rest}`,
          `_rl_${rest}`,
          `ghp_${rest}`,
          `rl_.${rest}`,
          `${rest}rl_`,
          `rl_eyJ.${rest}.x`,
        ),
      ),
    'a wrong length': fc
      .tuple(fc.nat(known.length - 1), fc.constantFrom(0, 1, 2, 10, 100, 8_000))
      .chain(([length, more]) =>
        fc.constantFrom(
          known.slice(0, length),
          known + '0'.repeat(more + 1),
          known + known,
          seal(body + body),
          seal(body.slice(1)),
        ),
      ),
    'look-alike characters': fc.tuple(at, fc.boolean()).map(([index, isWide]) => {
      const character = known[index] ?? ''
      return replaceAt(known, index, isWide ? fullWidth(character) : (LOOKALIKES[character] ?? fullWidth(character)))
    }),
    'the hash': fc.constantFrom(
      hash,
      `rl_${hash}`,
      seal(hash.replace(/\W/g, '0').slice(0, 30)),
      seal(hash.slice(0, 30)),
    ),
    SQL: fc.oneof(
      fc.constantFrom(...SQL),
      fc.constantFrom(...SQL).map((text) => seal(text.slice(3).padEnd(30, '-').slice(0, 30))),
    ),
    'other casing': fc.constantFrom(
      known.toUpperCase(),
      known.toLowerCase(),
      seal(body.toLowerCase()),
      seal(body.toUpperCase()),
    ),
  }
  const named = Object.entries(kinds).map(([kind, tokens]) => tokens.map((token) => ({ kind, token })))
  return fc.oneof(...named).filter(({ token }) => token !== known)
}

const SCHEMES = ['Bearer', 'Token', 'token', 'BEARER']
const REQUESTS: ApiRequest[] = [
  { method: 'GET', path: '/members/me' },
  { method: 'GET', path: '/memos/random' },
  { method: 'POST', path: '/books', body: '{"title":"forged"}' },
  { method: 'POST', path: '/tokens', body: '{"name":"forged","scopes":["profile:read"]}' },
]

type Api = { request: (request: ApiRequest) => Promise<ApiResponse> }

type Run = { numRuns: number; seed: number; isSendable?: (token: string) => boolean }

/** Sends forged access tokens, the same ones for the same seed. Each must be refused with 401. */
export const tryAccessForgeries = async (
  api: Api,
  known: string,
  hash: string,
  { numRuns, seed, isSendable = () => true }: Run,
) => {
  const kinds = new Map<string, number>()
  const failures: string[] = []
  const forged = forgery(known, hash).filter(({ token }) => isSendable(token))
  const samples = fc.sample(fc.record({ forged, scheme: fc.constantFrom(...SCHEMES) }), { numRuns, seed })
  for (const [index, { forged, scheme }] of samples.entries()) {
    const request = REQUESTS[index % REQUESTS.length] as ApiRequest
    const { status, headers } = await api.request({ ...request, authorization: `${scheme} ${forged.token}` })
    const code = headers.get('X-Error-Code')
    kinds.set(forged.kind, (kinds.get(forged.kind) ?? 0) + 1)
    if (status === 401 && code === 'UNAUTHORIZED' && isChallenge(headers.get('WWW-Authenticate'))) continue
    failures.push(`${forged.kind}: ${status} ${code} for ${scheme} ${forged.token}`)
  }
  return { count: samples.length, kinds: kinds.size, failures }
}
