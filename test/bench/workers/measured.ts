// The service, which reports D1's own count of calls and rows in response headers.
import service from '../../support/service/service.js'
import { wrapDatabase } from '../../support/wrap-database.ts'
import './silence.ts'

type Meta = { rows_read?: number; rows_written?: number; changes?: number }

/** Since the last response, also of work after that one: the most rows that a batch changed, and all that were written. */
let [most, written] = [0, 0]

const metasOf = (result: unknown): Meta[] =>
  (Array.isArray(result) ? result : [result]).map((each: { meta?: Meta } | null) => each?.meta ?? {})

const sum = (metas: Meta[], key: keyof Meta) => metas.reduce((total, meta) => total + (meta[key] ?? 0), 0)

export default {
  async fetch(request, env, context) {
    let calls = 0
    const metas: Meta[] = []
    const DB = wrapDatabase(env.DB, async (call) => {
      calls += 1
      const result = await call()
      metas.push(...metasOf(result))
      most = Math.max(most, sum(metasOf(result), 'changes'))
      written += sum(metasOf(result), 'rows_written')
      return result
    })
    const response = await service.fetch(request, { ...env, DB }, context)
    const measured = new Response(response.body, response)
    measured.headers.set('X-D1-Calls', String(calls))
    measured.headers.set('X-Rows-Read', String(sum(metas, 'rows_read')))
    measured.headers.set('X-Rows-Written', String(sum(metas, 'rows_written')))
    measured.headers.set('X-All-Rows-Written', String(written))
    measured.headers.set('X-Most-Changes', String(most))
    most = 0
    written = 0
    return measured
  },
} satisfies ExportedHandler<{ DB: D1Database }>
