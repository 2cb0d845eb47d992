// The OpenAPI document as it is served: `documentOf` knows no feature, so what speaks of them is added here.
import { app } from './app'
import { EXAMPLES, type Example } from './examples'
import { documentOf } from './http/openapi'

const DESCRIPTION = `A personal reading library. Sign up, log in, and send the token with every request that is marked with
a lock. Every error has one shape. Times are local, without a zone; lists are paged from 1.

Statuses, types and visibilities may be sent by name or by number, and are always answered by name.`

const TAGS = [
  { name: 'Members', description: 'Signing up, logging in, and one’s own profile.' },
  { name: 'Books', description: 'One’s own books, and the views of them.' },
  { name: 'Memos', description: 'Memos on one’s own books, and the images in them.' },
  { name: 'Images', description: 'Loading what was uploaded.' },
  { name: 'Catalogue', description: 'Books to register, from a provider outside.' },
  { name: 'Health', description: 'Whether the service can answer.' },
]

type Operation = {
  operationId: string
  parameters?: { name: string; example?: unknown }[]
  requestBody?: { content: Contents }
  responses: Record<string, { content?: Contents }>
}
type Contents = Record<string, { example?: unknown }>

const addExample = (operation: Operation, { parameters, body, answer }: Example) => {
  for (const parameter of operation.parameters ?? []) parameter.example = parameters?.[parameter.name]
  const good = Object.keys(operation.responses).find((status) => status.startsWith('2')) ?? ''
  const [sent, answered] = [operation.requestBody?.content, operation.responses[good]?.content]
  if (body !== undefined) for (const media of Object.values(sent ?? {})) media.example = body
  if (answer !== undefined) for (const media of Object.values(answered ?? {})) media.example = answer
}

/** Builds the document of the whole API. */
export const buildDocument = () => {
  const document = documentOf(app)
  for (const operation of Object.values(document.paths ?? {}).flatMap<Operation>((item) => Object.values(item))) {
    addExample(operation, EXAMPLES[operation.operationId] ?? {})
  }
  const { openapi, info, ...rest } = document
  return {
    openapi,
    info: {
      ...info,
      summary: 'A personal reading library as a REST API at the edge',
      description: DESCRIPTION,
      contact: { name: 'The maintainers of Reading Library' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This service, in production and anywhere else', 'x-internal': false }],
    tags: TAGS,
    ...rest,
  }
}
