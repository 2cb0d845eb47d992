/** A database call of an import, with D1's count of rows, and its results as JSON. */
export type Call = { statements: { sql: string; read: number; written: number }[]; results: string }
