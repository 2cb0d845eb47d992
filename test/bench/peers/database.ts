import Database from 'better-sqlite3'

/** Opens the database with the usual pragmas of a server on SQLite. */
export const openDatabase = () => {
  const database = new Database(process.env.DATABASE)
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = NORMAL')
  database.pragma('foreign_keys = ON')
  return database
}
