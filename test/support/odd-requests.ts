import * as fc from 'fast-check'
import { HEADERS, KEYS, ODD_VALUES, PARTS, RAW, repeat, TYPES } from './odd-values'
import { addressOf, bodyOf, ID_PARAMETERS, type Operation, operations } from './operations'

/** A request that nobody sends by chance; `oddity` says what is odd about it. */
export type OddRequest = {
  oddity: string
  method: string
  /** The address as it is sent, query included. */
  path: string
  headers: [name: string, value: string][]
  type?: string
  body?: Uint8Array<ArrayBuffer>
  /** Whether the caller's token goes with it. */
  hasToken: boolean
}

const toBytes = (text: string) => Uint8Array.from(new TextEncoder().encode(text))
const anyRaw = fc.oneof(
  ...Object.entries(RAW).map(([oddity, raw]) => ({
    weight: oddity === 'a long text' || oddity === 'deep nesting' ? 1 : 8,
    arbitrary: raw.map((text) => [oddity, text] as const),
  })),
)

type Pairs = [key: string, raw: string][]
const toObject = (pairs: Pairs) => `{${pairs.map(([key, raw]) => `${JSON.stringify(key)}:${raw}`).join(',')}}`
const goodPairs = (operation: Operation): Pairs =>
  Object.entries(bodyOf(operation) as object).map(([field, value]) => [field, JSON.stringify(value)])

type Oddity = { oddity: string } & Partial<Omit<OddRequest, 'oddity'>>
const ofText = (oddity: string, text: string): Oddity => ({ oddity, body: toBytes(text) })

/** Bodies of JSON objects, some of whose fields are odd. */
const oddObject = (operation: Operation): fc.Arbitrary<Oddity> => {
  const good = goodPairs(operation)
  const field = fc.constantFrom(...operation.fields)
  const changed = fc.tuple(
    fc.uniqueArray(field, { minLength: 1, maxLength: 3 }),
    fc.array(anyRaw, { minLength: 3, maxLength: 3 }),
  )
  const others = (fields: string[]) => good.filter(([name]) => !fields.includes(name))
  return fc.oneof(
    {
      weight: 12,
      arbitrary: changed.map(([fields, raws]) => {
        const odd = fields.map((name, at): [string, string] => [name, raws[at]?.[1] ?? 'null'])
        return ofText(raws[0]?.[0] ?? '', toObject([...others(fields), ...odd]))
      }),
    },
    fc.subarray(good).map((some) => ofText('fields missing', toObject(some))),
    fc
      .tuple(fc.constantFrom(...KEYS), anyRaw)
      .map(([key, [, raw]]) => ofText('a key that is not asked for', toObject([...good, [key, raw]]))),
    fc.tuple(field, anyRaw).map(([name, [, raw]]) => ofText('a key twice', toObject([...good, [name, raw]]))),
    fc
      .integer({ min: 1, max: 2_000 })
      .map((count) =>
        ofText(
          'many keys',
          toObject([...good, ...Array.from({ length: count }, (_, n): [string, string] => [`k${n}`, '0'])]),
        ),
      ),
  )
}

/** Bodies that are no JSON object at all, or not in an encoding that JSON has. */
const oddBytes = (operation: Operation): fc.Arbitrary<Oddity> => {
  const text = JSON.stringify(bodyOf(operation) ?? {})
  const bytes = toBytes(text)
  const wide = (order: boolean) => {
    const view = new DataView(new ArrayBuffer(text.length * 2))
    for (let at = 0; at < text.length; at++) view.setUint16(at * 2, text.charCodeAt(at), order)
    return new Uint8Array(view.buffer)
  }
  const as =
    (oddity: string) =>
    (body: Uint8Array): Oddity => ({ oddity, body: Uint8Array.from(body) })
  return fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map(as('any bytes')),
    fc.constantFrom(wide(true), wide(false)).map(as('UTF-16')),
    fc.constant(Uint8Array.from([0xef, 0xbb, 0xbf, ...bytes])).map(as('a byte order mark')),
    fc
      .nat(bytes.length)
      .map((end) => bytes.subarray(0, end))
      .map(as('a body cut off')),
    fc
      .tuple(fc.nat(bytes.length - 1), fc.constantFrom(0, 0x80, 0xc0, 0xf5, 0xff, 0xed))
      .map(([at, byte]) => bytes.with(at, byte))
      .map(as('a byte that is no UTF-8')),
    fc
      .constantFrom(
        `${text}${text}`,
        `${text},`,
        `//x\n${text}`,
        `(${text})`,
        text.replaceAll('"', "'"),
        `[${text}]`,
        `"${text}`,
        'NaN',
        'undefined',
      )
      .map((other) => ofText('almost JSON', other)),
    anyRaw.map(([, raw]) => ofText('JSON of another shape', raw)),
    fc.constantFrom(10, 10_000, 400_000).map((depth) => ofText('deep nesting', '['.repeat(depth))),
    fc.constant(0).map(() => ofText('more than a MiB', `{"title":${repeat('x', 1_048_600)}}`)),
    fc.constantFrom(...TYPES).map((type) => ({ oddity: 'an odd content type', type })),
    fc
      .constantFrom('gzip', 'br', 'identity', 'x')
      .map((coding) => ({ oddity: 'a content encoding', headers: [['Content-Encoding', coding]] })),
  ) as fc.Arbitrary<Oddity>
}

const oddValue = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...ODD_VALUES) },
  fc
    .string({ unit: 'grapheme', maxLength: 120 })
    .filter((text) => text.isWellFormed())
    .map(encodeURIComponent),
)

const toQuery = (pairs: [string, string][]) =>
  pairs.length === 0 ? '' : `?${pairs.map((pair) => pair.join('=')).join('&')}`

/** Addresses whose parameters are odd, missing, repeated, or not asked for. */
const oddAddress = (operation: Operation, address: string): fc.Arbitrary<Oddity> => {
  const [path = '', search = ''] = address.split('?')
  const pairs = [...new URLSearchParams(search)]
  const segments = path.split('/')
  const inPath = fc
    .tuple(fc.integer({ min: 1, max: segments.length - 1 }), oddValue)
    .map(([at, value]) => ({ oddity: 'an odd path', path: segments.with(at, value).join('/') + toQuery(pairs) }))
  const around = fc
    .constantFrom(
      `${path}/`,
      `/${path}`,
      path.toUpperCase(),
      `${path}/..`,
      `${path};a=1`,
      `${path}.json`,
      `${path}%2f`,
      `${path}?`,
      `${path}%00`,
    )
    .map((odd) => ({ oddity: 'an odd address', path: odd }))
  const extra = fc
    .tuple(fc.constantFrom('__proto__', 'constructor', '', 'page[]', 'size[$gt]', '%00', '%', 'x'), oddValue)
    .map((pair) => ({ oddity: 'an odd query key', path: path + toQuery([...pairs, pair]) }))
  const named =
    operation.query.length === 0
      ? []
      : [
          fc.tuple(fc.constantFrom(...operation.query), oddValue).map(([name, value]) => ({
            oddity: 'an odd query',
            path: path + toQuery(pairs.map(([key, known]) => [key, key === name ? value : known])),
          })),
          fc.tuple(fc.constantFrom(...operation.query), oddValue, fc.boolean()).map(([name, value, isSame]) => ({
            oddity: 'a query key twice',
            path: path + toQuery([...pairs, [name, isSame ? (pairs.find(([key]) => key === name)?.[1] ?? '') : value]]),
          })),
          fc.subarray(pairs).map((some) => ({ oddity: 'queries missing', path: path + toQuery(some) })),
        ]
  return fc.oneof(inPath, around, extra, ...named)
}

const oddHeaders: fc.Arbitrary<Oddity> = fc.oneof(
  fc.subarray(HEADERS, { minLength: 1, maxLength: 4 }).map((headers) => ({ oddity: 'odd headers', headers })),
  fc
    .constantFrom('HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'POST', 'GET', 'PROPFIND', 'PURGE')
    .map((method) => ({ oddity: 'another method', method })),
  fc.constant({ oddity: 'no token', hasToken: false }),
)

/** Multipart bodies that a browser would not send. */
const oddForm: fc.Arbitrary<Oddity> = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom(...PARTS), fc.string({ maxLength: 60 })), { maxLength: 4 }),
    fc.constantFrom('x', 'y', '', '-', 'x'.repeat(100)),
    fc.constantFrom('--x--\r\n', '', '--x'),
  )
  .map(([parts, boundary, end]) => ({
    ...ofText(
      'an odd form',
      parts.map(([about, text]) => `--x\r\nContent-Disposition: form-data; ${about}\r\n\r\n${text}\r\n`).join('') + end,
    ),
    type: `multipart/form-data; boundary=${boundary}`,
  }))

/** Identifiers that a request may name: one's own things, another's, and nothing's. */
export type Known = Record<string, string[]>

const ofOperation = (operation: Operation, known: Known): fc.Arbitrary<OddRequest> => {
  const ids = [...operation.path, ...operation.query].filter((name) => ID_PARAMETERS.includes(name))
  const given = fc.tuple(
    ...ids.map((name) => fc.constantFrom(...(known[name] ?? ['1'])).map((id) => [name, id] as const)),
  )
  const hasBody = operation.types.length > 0
  const body = bodyOf(operation)
  return given.chain((pairs) => {
    const path = addressOf(operation, Object.fromEntries(pairs))
    const good: OddRequest = {
      oddity: '',
      method: operation.method,
      path,
      headers: [],
      hasToken: operation.isMembersOnly,
      ...(hasBody && { type: operation.types[0], body: toBytes(JSON.stringify(body ?? '')) }),
    }
    const oddities = fc.oneof(
      ...(operation.fields.length > 0 && body ? [{ weight: 8, arbitrary: oddObject(operation) }] : []),
      ...(hasBody ? [{ weight: 3, arbitrary: oddBytes(operation) }] : []),
      ...(operation.types.includes('multipart/form-data') ? [{ weight: 8, arbitrary: oddForm }] : []),
      { weight: 4, arbitrary: oddAddress(operation, path) },
      { weight: 2, arbitrary: oddHeaders },
    )
    return fc.tuple(oddities, fc.option(oddHeaders, { freq: 10 })).map(([odd, more]) => ({
      ...good,
      ...odd,
      headers: [...(odd.headers ?? []), ...(more?.headers ?? [])],
    }))
  })
}

/** Bodies hold most of what can be odd; but a good password is hashed, which takes as long as a hundred other requests. */
const weightOf = ({ types, fields }: Operation) => (types.length > 0 && !fields.includes('password') ? 3 : 1)

/** Odd requests to every operation of the document; the same ones for the same seed. */
export const oddRequests = (known: Known, count: number, seed: number): OddRequest[] =>
  fc.sample(
    fc.oneof(
      ...operations.map((operation) => ({
        weight: weightOf(operation),
        arbitrary: ofOperation(operation, known),
      })),
    ),
    { numRuns: count, seed },
  )
