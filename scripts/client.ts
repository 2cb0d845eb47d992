// `npm run client`: writes the package of the typed client to dist/client, from docs/openapi.json: types, and `hc` of
// Hono.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { print } from './print.ts'
import type { Document, Media, Operation, Schema } from './reference/document.ts'

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

const toInput = ({ parameters = [], requestBody }: Operation) => {
  const inputs = Object.entries({ param: 'path', query: 'query' }).flatMap(([target, place]) => {
    const sent = parameters.filter((parameter) => parameter.in === place)
    const fields = sent.map(({ name, required = false, schema }) => property(name, toType(schema, 'string'), required))
    const isRequired = sent.some(({ required }) => required)
    return fields.length > 0 ? [property(target, object(fields), isRequired)] : []
  })
  const { 'application/json': json, 'multipart/form-data': form } = requestBody?.content ?? {}
  if (json) inputs.push(property('json', toType(json.schema)))
  if (form) inputs.push(property('form', toType(form.schema)))
  return object(inputs)
}

const toOutputs = ({ responses }: Operation) =>
  Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([status, { content = {} }]) => {
      const ofType = ([type, { schema }]: [string, Media]) => {
        if (type === 'application/json') return `output: ${toType(schema)}; outputFormat: 'json'`
        return type.startsWith('text/') ? "output: string; outputFormat: 'text'" : "output: {}; outputFormat: 'body'"
      }
      const outputs = Object.entries(content).map(ofType)
      return (outputs.length > 0 ? outputs : ["output: null; outputFormat: 'body'"]).map(
        (output) => `${output}; status: ${status}`,
      )
    })

const toEndpoint = ([method, operation]: [string, Operation]) => {
  const input = toInput(operation)
  return property(`$${method}`, union(toOutputs(operation).map((output) => `{ input: ${input}; ${output} }`)))
}

const { paths, components }: Document = JSON.parse(readFileSync('docs/openapi.json', 'utf8'))
const { name, version, license, dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))

const types = Object.entries(components.schemas ?? {}).map(([id, schema]) => `export type ${id} = ${toType(schema)}`)
const endpoints = Object.entries(paths).map(([path, operations]) => {
  const route = path.replace(/\{([\w-]+)\}/g, ':$1')
  return `  ${property(route, object(Object.entries(operations).map(toEndpoint)))}`
})
const files = {
  'index.js': "export { hc } from 'hono/client'",
  'index.d.ts': [
    "import type { Hono } from 'hono'",
    "export { hc } from 'hono/client'",
    ...types,
    `type Schema = {\n${endpoints.join('\n')}\n}`,
    '/** The API, for `hc<Api>`. */',
    "export type Api = Hono<{}, Schema, '/'>",
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
print(`Wrote ${FOLDER}. In your app: npm install --install-links ${process.cwd()}/${FOLDER}`)
