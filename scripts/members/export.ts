import { Hono } from 'hono'
import type { Config } from '../../src/env.ts'
import { sendJson } from '../../src/http/json-stream.ts'
import { DEADLINES } from '../../src/runtime/deadlines.ts'
import type { ExportQuery } from '../../src/transfer/export/schema.ts'
import { exportLibrary } from '../../src/transfer/export/store.ts'
import { asMember } from './as-member.ts'
import type { Member } from './find.ts'

/** Counts exports by operators apart from the member's own, whose limit they must not use up. */
const CONFIG = { JWT_SECRET: 'operator' } as Config

/** Yields the parts of what `GET /export` returns to the member, as JSON. Read each one before the next. */
export async function* exportMember(member: Omit<Member, 'email'>, imageBase: string) {
  const exporter = { ...asMember(member), config: CONFIG }
  let query: ExportQuery | undefined = { part: 1, plan: undefined }
  while (query) {
    const exported = await exportLibrary(exporter, query, imageBase)
    const app = new Hono().get('/', (c) => sendJson(c, exported.file, DEADLINES.download))
    yield await app.request('/')
    const { next } = exported.part
    query = next && { part: next.part, plan: next }
  }
}
