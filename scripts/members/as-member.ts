import type { D1Database, D1DatabaseSession } from '@cloudflare/workers-types'
import type { SessionCaller } from '../../src/db/caller.ts'
import { connect, type Db } from '../../src/db/client.ts'
import type { Member } from './find.ts'

// Runs code of the Worker for a member without a session of the member: in its statements, the guard finds the member
// instead.

const SESSION = 'select memberId from sessions where memberId = ? and sessionId = ?'
const MEMBER = `select memberId from members where memberId = ? and ? = 'operator'`

const replaceGuard = (session: D1DatabaseSession): D1DatabaseSession => ({
  prepare: (query) => session.prepare(query.replaceAll(SESSION, MEMBER)),
  batch: (statements) => session.batch(statements),
  getBookmark: () => session.getBookmark(),
})
/** The only part of a database that `connect` uses. */
const withoutSession = (database: D1Database) =>
  ({ withSession: (constraint?: string) => replaceGuard(database.withSession(constraint)) }) as D1Database

/** The member as the caller of the Worker's code, with the connection on which that works. */
export const asMember = ({ slot, memberId, database }: Omit<Member, 'email'>): { db: Db; caller: SessionCaller } => ({
  db: connect(withoutSession(database), { slot }),
  caller: { kind: 'session', slot, memberId, sessionId: 'operator', required: [] },
})
