import { readFileSync } from 'node:fs'
import Database from 'better-sqlite3'

const [statements = '', file = ''] = process.argv.slice(2)
const database = new Database(file)
database.transaction(() => {
  for (const statement of JSON.parse(readFileSync(statements, 'utf8')) as string[]) database.exec(statement)
})()
database.close()
