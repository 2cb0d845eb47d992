// Estimates the monthly cost of running the service from the measured results.
import { DEFAULT_LOG_SAMPLE_RATE } from '../../src/runtime/log.ts'
import { fixed, formatTable, whole } from '../support/service/table.ts'
import { print } from './print.ts'
import type { Results } from './results.ts'

// Requests that an active member is assumed to make in a month, by endpoint.
const MONTH: Record<string, number> = {
  library: 40,
  detail: 25,
  memos: 10,
  random: 10,
  register: 3,
  'memo creation': 8,
  calender: 5,
  'memo-books': 8,
  abandon: 1,
  'memos of a type': 3,
  update: 15,
  'memo update': 2,
  'delete memo': 0.5,
  'delete book': 0.2,
  'image upload': 1,
  profile: 5,
}
/** Each hashes a password. */
const LOGINS = 2
/** New members per active member; each is sent a code by mail. */
const SIGN_UPS = 0.05
const IMAGE_LOADS = 30
const CATALOGUE_SEARCHES = 6
/** Stored per member: books with a memo each, and images. */
const BOOKS = 100
const IMAGES = 12
const IMAGE_BYTES = 300_000
/** Requests whose log line is kept. */
const LOGGED_SHARE = DEFAULT_LOG_SAMPLE_RATE

// Prices of Workers Paid, November 2026: the monthly allowance, and dollars per unit above it.
const PRICES = {
  requests: { included: 10e6, unit: 1e6, dollars: 0.3 },
  'CPU ms': { included: 30e6, unit: 1e6, dollars: 0.02 },
  'rows read': { included: 25e9, unit: 1e6, dollars: 0.001 },
  'rows written': { included: 50e6, unit: 1e6, dollars: 1 },
  'GB in D1': { included: 5, unit: 1, dollars: 0.75 },
  // No allowance: the members' databases use it up.
  'GB of directory': { included: 0, unit: 1, dollars: 0.75 },
  'GB in R2': { included: 10, unit: 1, dollars: 0.015 },
  'R2 writes': { included: 1e6, unit: 1e6, dollars: 4.5 },
  'R2 reads': { included: 10e6, unit: 1e6, dollars: 0.36 },
  'log lines': { included: 20e6, unit: 1e6, dollars: 0.6 },
  mails: { included: 3000, unit: 1000, dollars: 0.35 },
}
const BASE_DOLLARS = 5
const D1_BYTES = 10e9
const SECONDS_PER_MONTH = 30 * 86_400

type Usage = Record<keyof typeof PRICES, number>

/** What an active member uses in a month; undefined unless everything was measured. */
const usageOf = ({ rows, hashing, speed, storage, passwords }: Results): Usage | undefined => {
  const login = hashing?.login
  const library = speed?.library
  if (!rows || !login || !library || !storage || !passwords) return undefined
  const sum = (of: (name: string) => number) =>
    Object.entries(MONTH).reduce((total, [name, times]) => total + times * of(name), 0)
  const costOf = (name: string) => rows.find((row) => row.name === name)
  const otherRequests = LOGINS + SIGN_UPS + IMAGE_LOADS + CATALOGUE_SEARCHES
  const requests = sum(() => 1) + otherRequests
  // An upper bound: includes the CPU that the local D1 uses in the same process.
  const msOf = (name: string) => 1000 / (speed[name]?.service.perSecond ?? library.service.perSecond)
  return {
    requests,
    'CPU ms': sum(msOf) + otherRequests * msOf('library') + (LOGINS + SIGN_UPS) * passwords.hashMs,
    'rows read': sum((name) => costOf(name)?.read[0] ?? 0) + LOGINS * login.read,
    'rows written': sum((name) => costOf(name)?.written ?? 0) + LOGINS * login.written,
    'GB in D1': (BOOKS * storage.bytes) / storage.books / 1e9,
    'GB of directory': storage.entryBytes / 1e9,
    'GB in R2': (IMAGES * IMAGE_BYTES) / 1e9,
    'R2 writes': MONTH['image upload'] ?? 0,
    'R2 reads': IMAGE_LOADS,
    'log lines': requests * LOGGED_SHARE,
    mails: SIGN_UPS,
  }
}

const NAMES = Object.keys(PRICES) as (keyof Usage)[]

const dollarsFor = (usage: Usage, name: keyof Usage, members: number) => {
  const { included, unit, dollars } = PRICES[name]
  return (Math.max(0, usage[name] * members - included) / unit) * dollars
}

const rounded = (used: number) => {
  if (used > 0 && used < 1e-5) return used.toExponential(1)
  return used < 0.01 ? fixed(used, 6) : used < 100 ? fixed(used, 2) : whole(used)
}

const SIZES = [10_000, 1e6, 10e6, 100e6]

/** Prints the bill by number of active members, and when one database is full. */
export const printBill = (results: Results) => {
  const usage = usageOf(results)
  if (!usage) return
  const membersPerDatabase = D1_BYTES / (usage['GB in D1'] * 1e9)
  // Only several databases need a directory.
  const usageFor = (members: number) => (members > membersPerDatabase ? usage : { ...usage, 'GB of directory': 0 })
  const dollars = (name: keyof Usage, members: number) => dollarsFor(usageFor(members), name, members)
  const rows = NAMES.map((name) => [
    name,
    rounded(usage[name]),
    ...SIZES.flatMap((members) => [rounded(usageFor(members)[name] * members), fixed(dollars(name, members), 2)]),
  ])
  const totalFor = (members: number) => NAMES.reduce((total, name) => total + dollars(name, members), BASE_DOLLARS)
  rows.push(['total, with the plan', '', ...SIZES.flatMap((members) => ['', fixed(totalFor(members), 2)])])
  rows.push(['databases', '', ...SIZES.flatMap((members) => [whole(Math.ceil(members / membersPerDatabase)), ''])])
  print('\nMonthly cost, by number of active members:')
  print(formatTable(['', 'per member', ...SIZES.flatMap((members) => [whole(members), '$'])], rows))
  const perSecond = (membersPerDatabase * usage.requests) / SECONDS_PER_MONTH
  print(
    `A 10 GB database holds ${whole(membersPerDatabase)} such members, who make ${fixed(perSecond, 1)} requests per second on average.`,
  )
}
