import { expect, it } from 'vitest'

/** From the bottom: a layer imports those above it in this list, never each other if they share a line. Longer paths win. */
const LAYERS = [
  ['values'],
  ['errors', 'transfer/entries'],
  ['runtime'],
  ['db', 'storage'],
  ['slots'],
  ['env'],
  ['auth'],
  ['http'],
  ['callers'],
  ['input'],
  ['catalogue'],
  ['library'],
  ['accounts'],
  ['transfer', 'transfer/reader'],
  ['devices'],
  ['reference'],
  ['app', 'sweep'],
  ['index', 'openapi'],
]
const FEATURE = /^(?:catalogue|library|accounts|transfer|devices|reference)\//
/** Files that speak HTTP. */
const ROUTES = /\/(?:routes|import-body)$/

type Rule = { reason: string; files: RegExp; but?: RegExp; imports: RegExp; allowed?: RegExp }
const RULES: Rule[] = [
  { reason: 'below http/ nothing knows HTTP', files: /^(?:values|runtime|db|storage|slots|auth)\//, imports: /^hono/ },
  { reason: 'http/ does not know the database: pass what it needs', files: /^http\//, imports: /^db\/|^drizzle-orm/ },
  { reason: 'routes contain no SQL: call a function of store.ts', files: /\/routes$/, imports: /^db\/|^drizzle-orm/ },
  {
    reason: 'a schema has no behaviour: put it into store.ts or routes.ts',
    files: /\/schema$/,
    imports: /^(?:hono|http|callers|input|db)\b|\/(?:store|routes)$/,
  },
  {
    reason: 'a store does not know HTTP: return undefined, or throw ApiError',
    files: FEATURE,
    but: ROUTES,
    imports: /^(?:hono|http|callers|input)\b|\/routes$/,
    allowed: /^hono\/html$|^http\/description\//,
  },
  {
    reason: 'the reader is a Worker without bindings: it only reads files',
    files: /^transfer\/reader\//,
    imports: /./,
    allowed:
      /^(?:values|transfer\/(?:entries|reader))\/|^(?:library|accounts)\/\w+\/schema$|^(?:zod|entities|cloudflare:)/,
  },
]

const layerOf = (path: string) => {
  const names = LAYERS.flat().filter((name) => path === name || path.startsWith(`${name}/`))
  const [longest = ''] = names.toSorted((one, other) => other.length - one.length)
  return { name: longest, level: LAYERS.findIndex((level) => level.includes(longest)) }
}

const IMPORT = /(?:from|import)\s*\(?\s*'([^']+)'/g
/** What a file imports, types included: paths in src, or packages. */
const importsOf = (path: string, code: string) =>
  [...code.matchAll(IMPORT)].map(([, name = '']) =>
    name.startsWith('.') ? new URL(name, `file:///${path}`).pathname.slice(1) : name,
  )

/** @param files code by path in src, without `.ts` */
const findViolations = (files: Record<string, string>) =>
  Object.entries(files).flatMap(([path, code]) => {
    const from = layerOf(path)
    return importsOf(path, code).flatMap((imported) => {
      const to = layerOf(imported)
      const isUp = to.level > from.level || (to.level === from.level && to.name !== from.name)
      const broken = RULES.filter(
        ({ files, but, imports, allowed }) =>
          files.test(path) && !but?.test(path) && imports.test(imported) && !allowed?.test(imported),
      )
      const reasons = [...(isUp ? [`${to.name} is not below ${from.name}`] : []), ...broken.map(({ reason }) => reason)]
      return reasons.map((reason) => `src/${path}.ts imports ${imported}: ${reason}`)
    })
  })

it('imports go down', () => {
  const modules = import.meta.glob<string>('/src/**/*.ts', { query: '?raw', import: 'default', eager: true })
  const files = Object.fromEntries(
    Object.entries(modules).map(([path, code]) => [path.slice('/src/'.length, -'.ts'.length), code]),
  )
  expect(Object.keys(files).filter((path) => layerOf(path).level < 0)).toEqual([])
  expect(findViolations(files)).toEqual([])
})

it.each([
  ['values/time', '../errors', 'not below'],
  ['db/client', '../storage/bucket', 'not below'],
  ['transfer/imports/run', '../reader/read-file', 'not below'],
  ['env', './transfer/imports/run-context', 'not below'],
  ['db/client', 'hono', 'nothing knows HTTP'],
  ['http/later', '../db/client', 'does not know the database'],
  ['library/tags/routes', '../../db/client', 'no SQL'],
  ['library/tags/schema', './store', 'no behaviour'],
  ['library/tags/store', '../../callers/throttle', 'does not know HTTP'],
  ['library/tags/store', './routes', 'does not know HTTP'],
  ['transfer/reader/text', '../../runtime/log', 'without bindings'],
])('src/%s.ts must not import %s', (path, imported, reason) => {
  expect(findViolations({ [path]: `import type { X } from '${imported}'` })).toEqual([expect.stringContaining(reason)])
})
