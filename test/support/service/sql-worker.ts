// Runs statements of the process that started workerd: ./databases.ts.
type Statement = { query: string; values: unknown[] }
type Call = { binding: string; statements: Statement[] }

export default {
  fetch: async (request: Request, env: Record<string, D1Database>) => {
    const { binding, statements } = await request.json<Call>()
    const database = env[binding]
    if (!database) return Response.json(`There is no ${binding}`, { status: 404 })
    try {
      return Response.json(
        await database.batch(statements.map(({ query, values }) => database.prepare(query).bind(...values))),
      )
    } catch (error) {
      return Response.json((error as Error).message, { status: 500 })
    }
  },
}
