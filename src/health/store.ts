import { type Db, ping } from '../db/client'
import { ApiError, unavailable } from '../errors'

/** @throws UNAVAILABLE when the database does not answer */
export const checkDatabase = (db: Db) =>
  ping(db).catch((error) => {
    throw error instanceof ApiError ? error : unavailable(error)
  })
