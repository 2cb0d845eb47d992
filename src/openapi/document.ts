// The OpenAPI document as it is served: the described routes, plus tags and examples.
import { app } from '../app'
import { documentOf } from './build'
import { EXAMPLES, type Example } from './examples'

const DESCRIPTION = `A personal reading library. Sign up, log in, and send the token with every operation that is marked with a lock. All
errors have the same format. Times are in the service's time zone, without an offset. Lists are paged, starting at page 1.

Statuses, types and visibilities may be sent by name or by number. Responses always contain names.`

const TAGS = [
  { name: 'Members', description: 'Sign up, log in, and manage your profile.' },
  { name: 'Books', description: 'Your books, and lists of them.' },
  { name: 'Memos', description: 'Memos on your books, and the images in them.' },
  { name: 'Images', description: 'Load uploaded images.' },
  { name: 'Catalogue', description: 'Look up books in an external catalogue.' },
  { name: 'Health', description: 'Check the health of the service.' },
]

type Operation = {
  operationId: string
  parameters?: { name: string; example?: unknown }[]
  requestBody?: { content: Contents }
  responses: Record<string, { content?: Contents }>
}
type Contents = Record<string, { example?: unknown }>

const addExample = (operation: Operation, { parameters, body, response }: Example) => {
  for (const parameter of operation.parameters ?? []) parameter.example = parameters?.[parameter.name]
  const success = Object.keys(operation.responses).find((status) => status.startsWith('2')) ?? ''
  const [sent, received] = [operation.requestBody?.content, operation.responses[success]?.content]
  if (body !== undefined) for (const media of Object.values(sent ?? {})) media.example = body
  if (response !== undefined) for (const media of Object.values(received ?? {})) media.example = response
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
    servers: [{ url: '/', description: 'This service, in production or local', 'x-internal': false }],
    tags: TAGS,
    ...rest,
  }
}
