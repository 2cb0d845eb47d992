// The service, telling with each answer what the request cost at the database, by D1's own count.
import { wrapDatabase } from '../../support/wrap-database.ts'
import service from './service.js'

console.log = () => {}
console.info = () => {}

type Meta = { rows_read?: number; rows_written?: number }

const metasOf = (result: unknown): Meta[] =>
  (Array.isArray(result) ? result : [result]).map((each: { meta?: Meta } | null) => each?.meta ?? {})

export default {
  async fetch(request, env, context) {
    let calls = 0
    const metas: Meta[] = []
    const database = wrapDatabase(env.DB, async (call) => {
      calls += 1
      const result = await call()
      metas.push(...metasOf(result))
      return result
    })
    const answer = await service.fetch(request, { ...env, DB: database }, context)
    const measured = new Response(answer.body, answer)
    const sum = (key: keyof Meta) => String(metas.reduce((total, meta) => total + (meta[key] ?? 0), 0))
    measured.headers.set('X-D1-Calls', String(calls))
    measured.headers.set('X-Rows-Read', sum('rows_read'))
    measured.headers.set('X-Rows-Written', sum('rows_written'))
    return measured
  },
} satisfies ExportedHandler<{ DB: D1Database }>
