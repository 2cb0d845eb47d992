// `npm run client`: packs the typed client from docs/openapi.json: types, and `hc` of Hono.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { parseOptions } from './options.ts'
import { print } from './print.ts'
import type { Document, Media, Operation, Schema } from './reference/document.ts'

parseOptions({}, 'npm run client: packs the typed client of docs/openapi.json into dist')

const FOLDER = 'dist/client'

const union = (types: string[]) => [...new Set(types)].join(' | ')
const property = (name: string, type: string, isRequired = true) =>
  `${/^[$\w]+$/.test(name) ? name : JSON.stringify(name)}${isRequired ? '' : '?'}: ${type}${isRequired ? '' : ' | undefined'}`
const object = (properties: string[]) => `{ ${properties.join('; ')} }`

/** @param number the type of numbers: those of parameters are sent as text */
const toType = (schema: Schema = {}, number = 'number'): string => {
  const { $ref, type, format, anyOf, items, properties, required } = schema
  if ($ref) return $ref.split('/').at(-1) ?? ''
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)))
  if (anyOf) return union(anyOf.map((choice) => toType(choice, number)))
  if (Array.isArray(type)) return union(type.map((each) => toType({ ...schema, type: each }, number)))
  if (type === 'array') return `(${toType(items, number)})[]`
  if (properties) {
    return object(
      Object.entries(properties).map(([name, each]) => property(name, toType(each), required?.includes(name) ?? false)),
    )
  }
  if (type === 'integer' || type === 'number') return number
  if (type === 'string') return format === 'binary' ? 'File' : 'string'
  return type === 'boolean' || type === 'null' ? type : 'unknown'
}

/** A parameter: numbers are text, and one that can be repeated may be sent once. */
const toSent = (schema: Schema) =>
  schema.type === 'array' ? union([toType(schema.items, 'string'), toType(schema, 'string')]) : toType(schema, 'string')

const toInput = ({ parameters = [], requestBody }: Operation) => {
  const inputs = Object.entries({ param: 'path', query: 'query' }).flatMap(([target, place]) => {
    const sent = parameters.filter((parameter) => parameter.in === place)
    const fields = sent.map(({ name, required = false, schema }) => property(name, toSent(schema), required))
    const isRequired = sent.some(({ required }) => required)
    return fields.length > 0 ? [property(target, object(fields), isRequired)] : []
  })
  const { 'application/json': json, 'multipart/form-data': form } = requestBody?.content ?? {}
  if (json) inputs.push(property('json', toType(json.schema)))
  if (form) inputs.push(property('form', toType(form.schema)))
  return inputs
}

const toResponse = ({ responses }: Operation) =>
  union(
    Object.entries(responses)
      .filter(([status]) => status.startsWith('2'))
      .flatMap(([, { content = {} }]) => {
        const types = Object.entries(content).map(([type, { schema }]: [string, Media]) =>
          type === 'application/json' ? `JsonResponse<${toType(schema)}>` : 'Response',
        )
        return types.length > 0 ? types : ['Response']
      }),
  )

const toMethod = ([method, operation]: [string, Operation]) => {
  const inputs = toInput(operation)
  const isRequired = inputs.some((input) => /^(?:\w+): /.test(input))
  const input = `input${isRequired ? '' : '?'}: ${object(inputs)}`
  return `$${method}(${input}, options?: Options): Promise<${toResponse(operation)}>`
}

type Tree = { operations: Record<string, Operation>; segments: Map<string, Tree> }
const createTree = (): Tree => ({ operations: {}, segments: new Map() })

/** The type of a path: a method for each operation, and a property for each longer path. */
const toTree = ({ operations, segments }: Tree): string =>
  object([
    ...Object.entries(operations).map(toMethod),
    ...[...segments].map(([segment, tree]) => property(segment, toTree(tree))),
  ])

const { paths, components }: Document = JSON.parse(readFileSync('docs/openapi.json', 'utf8'))
const { name, version, license, dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))

const types = Object.entries(components.schemas ?? {}).map(([id, schema]) => `export type ${id} = ${toType(schema)}`)
const root = createTree()
for (const [path, operations] of Object.entries(paths)) {
  const segments = path
    .slice(1)
    .replace(/\{([\w-]+)\}/g, ':$1')
    .split('/')
  const tree = segments.reduce((parent, segment) => {
    const child = parent.segments.get(segment) ?? createTree()
    parent.segments.set(segment, child)
    return child
  }, root)
  tree.operations = operations
}

// The types are written out, and not inferred by those of Hono, which take longer to compile than all of them.
const files = {
  'index.js': "export { hc } from 'hono/client'",
  'index.d.ts': [
    ...types,
    '/** A response. Its body has this type if `ok` is true. */',
    'export interface JsonResponse<Body> extends Response { json(): Promise<Body> }',
    '/** For all requests of a client, or for one. `init` wins over what the client sets. */',
    'export type Options = {',
    '  headers?: Record<string, string> | (() => Record<string, string> | Promise<Record<string, string>>)',
    '  fetch?: typeof fetch',
    '  init?: RequestInit',
    '}',
    `export type Api = ${toTree(root)}`,
    '/** A client of the API: `hc<Api>(url)`. */',
    'export declare const hc: <Client = Api>(url: string, options?: Options) => Client',
  ].join('\n'),
  'package.json': JSON.stringify({
    ...{ name, version, license, type: 'module', files: ['index.js', 'index.d.ts'], sideEffects: false },
    exports: { '.': { types: './index.d.ts', default: './index.js' } },
    dependencies: { hono: dependencies.hono },
  }),
}

rmSync(FOLDER, { recursive: true, force: true })
mkdirSync(FOLDER, { recursive: true })
for (const [file, text] of Object.entries(files)) writeFileSync(`${FOLDER}/${file}`, `${text}\n`)
execFileSync('npm', ['pack', '--silent', '--pack-destination', '..'], { cwd: FOLDER })
print(
  `Wrote dist/${name}-${version}.tgz. In your app:\n  npm install ${process.cwd()}/dist/${name}-${version}.tgz\n  import { type Api, hc } from '${name}'`,
)
