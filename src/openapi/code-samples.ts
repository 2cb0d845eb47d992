// Code samples of an operation, built from its example.

/** The parts of an operation that a sample shows. */
export type SampledOperation = {
  method: string
  /** The path with its parameters as `{name}`. */
  path: string
  pathParameters: Record<string, string>
  query: Record<string, string>
  /** The URL of the path with its parameters and query filled in. */
  url: string
  needsToken: boolean
  body?: { type: string; value: unknown } | undefined
  returns: 'json' | 'text' | 'file' | 'token' | 'nothing'
  /** Name of the file that is sent or received. */
  file?: string | undefined
}

const FORM = 'multipart/form-data'

/** The longest body that a command has on one line. */
const MAX_LINE = 60

const quoteForShell = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** A command for a POSIX shell, in which `TOKEN` is set. */
export const toCurl = ({ method, url, needsToken, body, returns, file }: SampledOperation) => {
  const line = typeof body?.value === 'string' ? body.value : JSON.stringify(body?.value)
  const data = line?.length > MAX_LINE ? JSON.stringify(body?.value, null, 2) : line
  const lines = [
    // A token is in a header of the response.
    `curl${returns === 'token' ? ' -i' : ''}${method === 'GET' ? '' : ` -X ${method}`} ${quoteForShell(url)}`,
    ...(needsToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...(body && body.type !== FORM ? [`-H 'Content-Type: ${body.type}'`, `-d ${quoteForShell(data)}`] : []),
    ...(body?.type === FORM ? [`-F file=@${file}`] : []),
    ...(returns === 'file' ? [`-o ${file}`] : []),
  ]
  return lines.join(' \\\n  ')
}

const toResult = ({ returns, needsToken }: SampledOperation) => {
  if (returns === 'json') return ['const result = await response.json()']
  if (returns === 'text') return ['const result = await response.text()']
  if (returns === 'file') return ['const image = await response.blob()']
  if (returns === 'nothing') return []
  const name = needsToken ? 'newToken' : 'token'
  return [`const ${name} = response.headers.get('Authorization')?.replace('Bearer ', '')`]
}

const indent = (value: unknown) => JSON.stringify(value, null, 2)?.replaceAll('\n', '\n  ')

/** JavaScript for any runtime with `fetch`, in which `token` and, for uploads, `file` are set. */
export const toFetch = (operation: SampledOperation) => {
  const { method, url, needsToken, body } = operation
  const headers = [
    ...(needsToken ? [`Authorization: \`Bearer \${token}\``] : []),
    ...(body && body.type !== FORM ? [`'Content-Type': '${body.type}'`] : []),
  ]
  const value = indent(body?.value)
  const json = typeof body?.value === 'string' ? value : `JSON.stringify(${value})`
  const options = [
    ...(method === 'GET' ? [] : [`method: '${method}'`]),
    ...(headers.length > 0 ? [`headers: { ${headers.join(', ')} }`] : []),
    ...(body ? [`body: ${body.type === FORM ? 'form' : json}`] : []),
  ]
  const init = options.length > 0 ? `, {\n${options.map((option) => `  ${option},\n`).join('')}}` : ''
  return [
    ...(body?.type === FORM ? ['const form = new FormData()', "form.append('file', file)"] : []),
    `const response = await fetch('${url}'${init})`,
    ...toResult(operation),
  ].join('\n')
}

/** The property of a typed client for a segment of a path: `.books`, `[':book-id']`. */
const toProperty = (segment: string) => {
  const name = segment.replace(/^\{(.+)\}$/, ':$1')
  return /^\w+$/.test(name) ? `.${name}` : `['${name}']`
}

/** TypeScript with `hono/client` and the types of this service, in which `token` and, for uploads, `file` are set. */
export const toClient = (operation: SampledOperation) => {
  const { method, path, pathParameters, query, url, needsToken, body } = operation
  const input = [
    ...(Object.keys(pathParameters).length > 0 ? [`param: ${indent(pathParameters)}`] : []),
    ...(Object.keys(query).length > 0 ? [`query: ${indent(query)}`] : []),
    ...(body ? [body.type === FORM ? 'form: { file }' : `json: ${indent(body.value)}`] : []),
  ]
  const argument = input.length > 0 ? `{\n${input.map((entry) => `  ${entry},\n`).join('')}}` : ''
  const options = needsToken ? `, { headers: { Authorization: \`Bearer \${token}\` } }` : ''
  const endpoint = path.slice(1).split('/').map(toProperty).join('')
  return [
    "import { type Api, hc } from 'reading-library'",
    '',
    `const api = hc<Api>('${new URL(url).origin}'${options})`,
    `const response = await api${endpoint}.$${method.toLowerCase()}(${argument})`,
    ...toResult(operation),
  ].join('\n')
}
