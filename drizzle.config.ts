import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'sqlite',
  schema: ['./src/db/schema.ts', './src/db/reading-schema.ts', './src/db/import-schema.ts'],
  out: './migrations',
})
