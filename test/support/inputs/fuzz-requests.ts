import * as fc from 'fast-check'
import { addressOf, bodyOf, type Operation, operations } from '../document/operations'
import { HEADERS, JSON_VALUES, KEYS, PARAMETER_VALUES, PARTS, repeat, TYPES } from './fuzz-values'

/** A valid request with one mutation, and sometimes unusual headers. */
export type FuzzRequest = {
  /** What was mutated. */
  kind: string
  method: string
  /** As sent, query included. */
  path: string
  headers: [name: string, value: string][]
  type?: string
  body?: Uint8Array<ArrayBuffer>
  /** Whether the caller's token is sent. */
  hasToken: boolean
}
type Mutation = { kind: string } & Partial<FuzzRequest>

const toBytes = (text: string) => Uint8Array.from(new TextEncoder().encode(text))
const withBody = (kind: string, text: string): Mutation => ({ kind, body: toBytes(text) })

const SLOW_KINDS = ['a long text', 'deep nesting']
const jsonValue = fc.oneof(
  ...Object.entries(JSON_VALUES).map(([kind, values]) => {
    const arbitrary = values.map((json) => ({ kind, json }))
    return { weight: SLOW_KINDS.includes(kind) ? 1 : 8, arbitrary }
  }),
)

type Fields = [name: string, json: string][]
const toObject = (fields: Fields) => `{${fields.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`

/** JSON objects with invalid, missing, repeated or unknown fields. */
const mutateObject = (operation: Operation): fc.Arbitrary<Mutation> => {
  const body = Object.entries(bodyOf(operation) as object)
  const valid = body.map(([name, value]): [string, string] => [name, JSON.stringify(value)])
  const field = fc.constantFrom(...operation.fields)
  const names = fc.uniqueArray(field, { minLength: 1, maxLength: 3 })
  const replaced = fc.tuple(names, fc.tuple(jsonValue, jsonValue, jsonValue)).map(([names, values]) => {
    const mutated = names.map((name, at): [string, string] => [name, values[at]?.json ?? 'null'])
    return withBody(values[0].kind, toObject([...valid.filter(([name]) => !names.includes(name)), ...mutated]))
  })
  const added = (kind: string, name: fc.Arbitrary<string>) =>
    fc.tuple(name, jsonValue).map(([key, { json }]) => withBody(kind, toObject([...valid, [key, json]])))
  const many = (length: number) => Array.from({ length }, (_, n): [string, string] => [`k${n}`, '0'])
  return fc.oneof(
    { weight: 12, arbitrary: replaced },
    fc.subarray(valid).map((some) => withBody('missing fields', toObject(some))),
    added('an unknown key', fc.constantFrom(...KEYS)),
    added('a repeated key', field),
    fc.integer({ min: 1, max: 2_000 }).map((count) => withBody('many keys', toObject([...valid, ...many(count)]))),
  )
}

/** Bodies that are not a JSON object, or not UTF-8. */
const mutateBytes = (operation: Operation): fc.Arbitrary<Mutation> => {
  const text = JSON.stringify(bodyOf(operation) ?? {})
  const bytes = toBytes(text)
  // The text is ASCII.
  const utf16 = (shift: number) => new Uint8Array(Uint16Array.from(text, (c) => c.charCodeAt(0) << shift).buffer)
  const encodings = fc.constantFrom('gzip', 'br', 'identity', 'x')
  const almostJson = [`${text}${text}`, `${text},`, `//x\n${text}`, `(${text})`, `[${text}]`, `"${text}`, 'NaN']
  const as = (kind: string) => (body: Uint8Array) => ({ kind, body: Uint8Array.from(body) })
  return fc.oneof<fc.Arbitrary<Mutation>[]>(
    fc.uint8Array({ maxLength: 300 }).map(as('random bytes')),
    fc.constantFrom(utf16(0), utf16(8)).map(as('UTF-16')),
    fc.constant(Uint8Array.from([0xef, 0xbb, 0xbf, ...bytes])).map(as('a byte order mark')),
    fc.nat(bytes.length).map((end) => as('a truncated body')(bytes.subarray(0, end))),
    fc
      .tuple(fc.nat(bytes.length - 1), fc.constantFrom(0, 0x80, 0xc0, 0xf5, 0xff, 0xed))
      .map(([at, byte]) => as('invalid UTF-8')(bytes.with(at, byte))),
    fc
      .constantFrom(...almostJson, text.replaceAll('"', "'"), 'undefined')
      .map((other) => withBody('almost JSON', other)),
    jsonValue.map(({ json }) => withBody('JSON of another shape', json)),
    fc.constantFrom(10, 10_000, 400_000).map((depth) => withBody('deep nesting', '['.repeat(depth))),
    fc.constant(1_048_600).map((length) => withBody('more than a MiB', `{"title":${repeat('x', length)}}`)),
    fc.constantFrom(...TYPES).map((type) => ({ kind: 'another content type', type })),
    encodings.map((encoding) => ({ kind: 'a content encoding', headers: [['Content-Encoding', encoding]] })),
  )
}

const parameterValue = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...PARAMETER_VALUES) },
  fc
    .string({ unit: 'grapheme', maxLength: 120 })
    .filter((text) => text.isWellFormed())
    .map(encodeURIComponent),
)

const toQuery = (pairs: [string, string][]) =>
  pairs.length === 0 ? '' : `?${pairs.map((pair) => pair.join('=')).join('&')}`

/** Paths and queries with invalid, missing, repeated or unknown parameters. */
const mutateAddress = (operation: Operation, address: string): fc.Arbitrary<Mutation> => {
  const [path = '', search = ''] = address.split('?')
  // Encoded, as they are sent.
  const pairs = (search === '' ? [] : search.split('&')).map((pair): [string, string] => {
    const [name = '', value = ''] = pair.split('=')
    return [name, value]
  })
  const segments = path.split('/')
  const suffixes = ['/', '/..', ';a=1', '.json', '%2f', '?', '%00']
  const spellings = [`/${path}`, path.toUpperCase(), ...suffixes.map((suffix) => path + suffix)]
  const unknownNames = ['__proto__', 'constructor', '', 'page[]', 'size[$gt]', '%00', '%', 'x']
  const withQuery = (kind: string, query: [string, string][]) => ({ kind, path: path + toQuery(query) })
  const changed = (name: string, value: string) =>
    pairs.map(([key, valid]): [string, string] => [key, key === name ? value : valid])
  const ofQuery = (name: fc.Arbitrary<string>) => [
    fc.tuple(name, parameterValue).map((pair) => withQuery('a query parameter', changed(...pair))),
    fc.tuple(name, parameterValue).map((pair) => withQuery('a repeated query parameter', [...pairs, pair])),
    fc.constantFrom(...pairs).map((pair) => withQuery('a repeated query parameter', [...pairs, pair])),
    fc.subarray(pairs).map((some) => withQuery('missing query parameters', some)),
  ]
  const segment = fc.integer({ min: 1, max: segments.length - 1 })
  const unknown = fc.tuple(fc.constantFrom(...unknownNames), parameterValue)
  return fc.oneof(
    fc.tuple(segment, parameterValue).map(([at, value]) => {
      return { kind: 'a path segment', path: segments.with(at, value).join('/') + toQuery(pairs) }
    }),
    fc.constantFrom(...spellings).map((spelling) => ({ kind: 'another spelling of the path', path: spelling })),
    unknown.map((pair) => withQuery('an unknown query parameter', [...pairs, pair])),
    ...(operation.query.length > 0 ? ofQuery(fc.constantFrom(...operation.query)) : []),
  )
}

const OTHER_METHODS = ['HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'POST', 'GET', 'PROPFIND', 'PURGE']

const mutateHeaders: fc.Arbitrary<Mutation> = fc.oneof(
  fc.subarray(HEADERS, { minLength: 1, maxLength: 4 }).map((headers) => ({ kind: 'unusual headers', headers })),
  fc.constantFrom(...OTHER_METHODS).map((method) => ({ kind: 'another method', method })),
  fc.constant({ kind: 'no token', hasToken: false }),
)

/** Multipart bodies that no browser sends. */
const malformedForm: fc.Arbitrary<Mutation> = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom(...PARTS), fc.string({ maxLength: 60 })), { maxLength: 4 }),
    fc.constantFrom('x', 'y', '', '-', 'x'.repeat(100)),
    fc.constantFrom('--x--\r\n', '', '--x'),
  )
  .map(([parts, boundary, end]) => {
    const texts = parts.map(([rest, text]) => `--x\r\nContent-Disposition: form-data; ${rest}\r\n\r\n${text}\r\n`)
    const type = `multipart/form-data; boundary=${boundary}`
    return { ...withBody('a malformed form', texts.join('') + end), type }
  })

/** The ids to use for each parameter: the caller's own, another member's and unused ones. */
export type Ids = Record<string, string[]>

const fuzzOperation = (operation: Operation, ids: Ids): fc.Arbitrary<FuzzRequest> => {
  const { method, needsToken, types, fields } = operation
  const idNames = [...operation.path, ...operation.query].filter((name) => name in ids)
  const idValues = fc.tuple(
    ...idNames.map((name) => fc.constantFrom(...(ids[name] ?? [])).map((id) => [name, id] as const)),
  )
  const hasBody = types.length > 0
  const body = bodyOf(operation)
  return idValues.chain((values) => {
    const path = addressOf(operation, Object.fromEntries(values))
    const valid: FuzzRequest = {
      ...{ kind: '', method, path, headers: [], hasToken: needsToken },
      ...(hasBody && { type: types[0], body: toBytes(JSON.stringify(body ?? '')) }),
    }
    const mutations = fc.oneof(
      ...(fields.length > 0 && body ? [{ weight: 8, arbitrary: mutateObject(operation) }] : []),
      ...(hasBody ? [{ weight: 3, arbitrary: mutateBytes(operation) }] : []),
      ...(types.includes('multipart/form-data') ? [{ weight: 8, arbitrary: malformedForm }] : []),
      { weight: 4, arbitrary: mutateAddress(operation, path) },
      { weight: 2, arbitrary: mutateHeaders },
    )
    return fc.tuple(mutations, fc.option(mutateHeaders, { freq: 10 })).map(([mutation, more]) => {
      return { ...valid, ...mutation, headers: [...(mutation.headers ?? []), ...(more?.headers ?? [])] }
    })
  })
}

/** Bodies have the most to mutate; but hashing a valid password takes as long as a hundred other requests. */
const weightOf = ({ types, fields }: Operation) => (types.length > 0 && !fields.includes('password') ? 3 : 1)

/** Fuzzed requests to every operation of the document; the same ones for the same seed. */
export const fuzzRequests = (ids: Ids, numRuns: number, seed: number) => {
  const arbitraries = operations.map((operation) => {
    return { weight: weightOf(operation), arbitrary: fuzzOperation(operation, ids) }
  })
  return fc.sample(fc.oneof(...arbitraries), { numRuns, seed })
}
