// Every command that the documents name, but for those of docs/deploy.md and docs/operations.md, which test/runbook runs.
// Each list has a file of tests, as files run at the same time.

import { FOLDERS } from '../support/attack-suites.ts'

/** Of the rows of tables, the cells of the first column, each of which a line that is printed must begin with. */
export type Table = { document: string; heading?: string; exceptHeading?: string; lineOf: (cell: string) => string }

export type Run = {
  /** As the documents have them. */
  commands: string[]
  /** The quickest form, in which URL is a running service, TOKEN a token of its demo member, and FOLDER a temporary folder. */
  quick: string
  /** What it must print. */
  prints: string
}

/** The heading of what an attack prints, unlike the rest of the page. */
const STORED = 'The most that a member can store and write'

/** In an order in which they can run: some need what earlier ones made. */
export const SHORT_RUNS: Run[] = [
  {
    commands: ['npm run openapi'],
    quick:
      'cp docs/openapi.json FOLDER && npm run openapi && cmp FOLDER/openapi.json docs/openapi.json && echo unchanged',
    prints: 'unchanged',
  },
  {
    commands: ['npm run db -- generate --name memo_colour', 'npm run db -- generate'],
    quick: 'npm run db -- generate --name memo_colour',
    prints: 'No schema changes',
  },
  {
    commands: ['npm run seed'],
    quick: 'npm run seed -- --url URL',
    prints: 'Created the demo member',
  },
  {
    commands: [
      'npm run export -- --url https://library.example --token TOKEN',
      'npm run export -- --out backups/may.json --force',
    ],
    quick: 'npm run export -- --url URL --token TOKEN --out FOLDER/may.json --force',
    prints: 'may.json',
  },
  {
    commands: ['npm run export -- --csv'],
    quick: 'npm run export -- --csv --url URL --token TOKEN --out FOLDER/goodreads_library_export.csv',
    prints: 'goodreads_library_export.csv',
  },
  {
    commands: [`npm run import -- goodreads_library_export.csv --token "$TOKEN" --dry-run --map 'abandonados=STOPPED'`],
    quick: `npm run import -- FOLDER/goodreads_library_export.csv --url URL --token TOKEN --dry-run --map 'abandonados=STOPPED'`,
    prints: 'Nothing was written: it was a dry run.',
  },
  {
    commands: ['npm run import -- --list'],
    quick: 'npm run import -- --list --url URL --token TOKEN',
    prints: 'goodreads',
  },
  {
    commands: ['npm run smoke'],
    quick: 'npm run smoke -- --url URL --public',
    prints: 'passed',
  },
  {
    commands: ['npm run mutate'],
    quick:
      'npm run mutate -- --count 2 --seed 3 --files scripts/reference/markdown.ts --tests test/tools/reference.test.ts',
    prints: '2 mutants: 1 found',
  },
  {
    commands: ['npm run mutate -- --list test/attacks/data/sync-mutations.ts'],
    quick: 'npm run mutate -- --list test/attacks/data/sync-mutations.ts --only books_insert_logged',
    prints: '0 survived',
  },
  {
    commands: ['npm run mutate -- --list test/attacks/data/trash-mutations.ts'],
    quick: `npm run mutate -- --list test/attacks/data/trash-mutations.ts --only 'a restore of a memo needs room'`,
    prints: '0 survived',
  },
  {
    commands: ['npm run attack -- codes --slots 3'],
    quick: 'npm run attack -- codes --slots 3 --quick',
    prints: 'No failures',
  },
]

export const BENCHMARK_RUNS: Run[] = [
  {
    commands: [
      'npm run bench',
      'npm run bench -- --json test/fixtures/figures/bench.json',
      'npm run bench -- rows',
      'npm run bench -- reference',
    ],
    quick: 'npm run bench -- PARTS --quick --json FOLDER/bench.json',
    prints: 'targets met',
  },
]
export const BENCHMARK_TABLES: Table[] = [
  { document: 'docs/cost.md', exceptHeading: STORED, lineOf: (cell) => `${cell}  ` },
]

const { access, credentials, failures, ...others } = FOLDERS
/** All suites. Both halves take about as long. */
const HALVES = [[access, credentials, failures], Object.values(others)]
/** They run at the same time. */
export const ATTACK_RUNS: Run[] = HALVES.map((folders, half) => ({
  commands: [
    'npm run attack',
    'npm run attack -- forgery codes',
    'npm run attack -- --json test/fixtures/figures/attacks.json',
    'npm run attack -- stats',
    'npm run attack -- quotas',
    'npm run attack -- growth',
  ],
  quick: `npm run attack -- ${folders.flat().join(' ')} --quick --json FOLDER/attacks-${half}.json`,
  prints: 'No failures',
}))
export const ATTACK_TABLES: Table[] = [
  { document: 'docs/trust.md', heading: 'Results', lineOf: (cell) => `${cell.replaceAll('`', '')}: ` },
  { document: 'docs/cost.md', heading: STORED, lineOf: (cell) => `quotas: ${cell}: ` },
]

/** Commands that other files run, or that are how CI runs. */
export const ELSEWHERE: [command: string, file: string][] = [
  ['npm ci', '.ci/run'],
  ['npm test', '.ci/run'],
  ['npm run test:all', '.ci/run'],
  ['npx vitest run --project browser', '.ci/run'],
  ['npx vitest run --project clients', '.ci/run'],
  ['npx vitest run test/features/books/books.test.ts', 'test/features/books/books.test.ts'],
  ['npx biome check --write .', 'package.json'],
  ['npm run dev', 'test/support/service/dev-server.ts'],
  ['npm run client', 'test/clients/package.test.ts'],
  ['npm run serve', 'test/tools/serve.test.ts'],
  ['npm run serve -- --data data', 'test/tools/serve.test.ts'],
  ['HOST=0.0.0.0 PUBLIC_URL=http://192.168.1.20:8787 npm run serve', 'test/tools/serve.test.ts'],
  [
    'PUBLIC_URL=http://192.168.1.20:8787 npm run members -- invite mina@example.com --local --persist-to data',
    'test/tools/serve.test.ts',
  ],
  [
    'docker compose exec library npm run members -- invite mina@example.com --local --persist-to /data',
    'test/tools/serve.test.ts',
  ],
  ['npm run backup -- backups/may --local --persist-to data', 'test/tools/backup.test.ts'],
  [
    'docker compose exec library npm run backup -- /data/backups/may --local --persist-to /data',
    'test/tools/backup.test.ts',
  ],
  ['env $(cat backups/may.env) npm run backup -- rehearse backups/may', 'test/tools/backup.test.ts'],
  ['npm run restore -- backups/may --local --persist-to data', 'test/tools/backup.test.ts'],
  [
    'docker compose run --rm library npm run restore -- /data/backups/may --local --persist-to /data',
    'test/tools/backup.test.ts',
  ],
  ['npm run watch -- http://127.0.0.1:8787 --local --persist-to data', 'test/tools/watch.test.ts'],
  ['npm run members -- end-sessions mina@example.com --local --persist-to data', 'test/tools/members.test.ts'],
  ['npm run db -- time-migrations', 'test/tools/migrations.test.ts'],
]

export const NOT_RUN: [command: string, reason: string][] = [
  [
    'SWEEPS=1 MEMBERS=200 npx vitest run test/tools/serve.test.ts -t answered,',
    'takes minutes; CI runs it with fewer members',
  ],
  [
    'ALL_FAULTS=1 npx vitest run --project in-slot test/shared/slot-attacks',
    'takes minutes; CI runs a part of the faults',
  ],
]
