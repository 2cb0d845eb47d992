// What it would cost to run, from what was measured: dollars a month for so many active members.

import { fixed, format, whole } from '../support/table.ts'
import type { Results } from './report.ts'

// What an active member is taken to do in a month, by the names of the endpoints.
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
/** Each of them hashes a password once. */
const LOGINS = 2
/** New members are so many of the active ones; each is mailed a code. */
const SIGN_UPS = 0.05
const IMAGE_LOADS = 30
const CATALOGUE_SEARCHES = 6
/** What a member has: books with a memo each, and images. */
const BOOKS = 100
const IMAGES = 12
const IMAGE_BYTES = 300_000

// Prices of Workers Paid, November 2026: what is included a month, and dollars a unit beyond.
const PRICES = {
  requests: { included: 10e6, unit: 1e6, dollars: 0.3 },
  'CPU ms': { included: 30e6, unit: 1e6, dollars: 0.02 },
  'rows read': { included: 25e9, unit: 1e6, dollars: 0.001 },
  'rows written': { included: 50e6, unit: 1e6, dollars: 1 },
  'GB in D1': { included: 5, unit: 1, dollars: 0.75 },
  'GB in R2': { included: 10, unit: 1, dollars: 0.015 },
  'R2 writes': { included: 1e6, unit: 1e6, dollars: 4.5 },
  'R2 reads': { included: 10e6, unit: 1e6, dollars: 0.36 },
  'lines of the log': { included: 20e6, unit: 1e6, dollars: 0.6 },
  mails: { included: 3000, unit: 1000, dollars: 0.35 },
}
const BASE_DOLLARS = 5
const D1_BYTES = 10e9
const SECONDS_A_MONTH = 30 * 86_400

type Usage = Record<keyof typeof PRICES, number>

/** What one active member uses in a month; undefined where not all of it was measured. */
const usageOf = ({ rows, hashing, speed, storage, passwords }: Results): Usage | undefined => {
  const login = hashing?.login
  const library = speed?.library
  if (!rows || !login || !library || !storage || !passwords) return undefined
  const sum = (of: (name: string) => number) =>
    Object.entries(MONTH).reduce((total, [name, times]) => total + times * of(name), 0)
  const costOf = (name: string) => rows.find((row) => row.name === name)
  const others = LOGINS + SIGN_UPS + IMAGE_LOADS + CATALOGUE_SEARCHES
  const requests = sum(() => 1) + others
  // As if workerd had done nothing else: its D1's own work is in it, so it is no less than what is paid for.
  const msOf = (name: string) => 1000 / (speed[name]?.service.perSecond ?? library.service.perSecond)
  return {
    requests,
    'CPU ms': sum(msOf) + others * msOf('library') + (LOGINS + SIGN_UPS) * passwords.hashMs,
    'rows read': sum((name) => costOf(name)?.read[0] ?? 0) + LOGINS * login.read,
    'rows written': sum((name) => costOf(name)?.written ?? 0) + LOGINS * login.written,
    'GB in D1': (BOOKS * storage.bytes) / storage.books / 1e9,
    'GB in R2': (IMAGES * IMAGE_BYTES) / 1e9,
    'R2 writes': MONTH['image upload'] ?? 0,
    'R2 reads': IMAGE_LOADS,
    'lines of the log': requests,
    mails: SIGN_UPS,
  }
}

const dollarsFor = (name: keyof Usage, used: number) => {
  const { included, unit, dollars } = PRICES[name]
  return (Math.max(0, used - included) / unit) * dollars
}

const billFor = (usage: Usage, members: number) => {
  const names = Object.keys(usage) as (keyof Usage)[]
  const lines = names.map((name) => ({
    name,
    used: usage[name] * members,
    dollars: dollarsFor(name, usage[name] * members),
  }))
  return { lines, dollars: BASE_DOLLARS + lines.reduce((sum, line) => sum + line.dollars, 0) }
}

const rounded = (used: number) => (used < 0.01 ? fixed(used, 6) : used < 100 ? fixed(used, 2) : whole(used))

/** Prints the bill for ten thousand active members and for ten million, and when one database is full. */
export const printBill = (results: Results) => {
  const usage = usageOf(results)
  if (!usage) return
  const [few, many] = [billFor(usage, 10_000), billFor(usage, 10_000_000)]
  const rows = few.lines.map(({ name, used, dollars }, at) => {
    const other = many.lines[at]
    return [
      name,
      rounded(usage[name]),
      rounded(used),
      fixed(dollars, 2),
      rounded(other?.used ?? 0),
      fixed(other?.dollars ?? 0, 2),
    ]
  })
  rows.push(['in all, with the plan', '', '', fixed(few.dollars, 2), '', fixed(many.dollars, 2)])
  console.log('\nA month, for active members:')
  console.log(format(['', 'each', 'for 10,000', '$', 'for 10,000,000', '$'], rows))
  const membersADatabase = D1_BYTES / (usage['GB in D1'] * 1e9)
  const perSecond = (membersADatabase * usage.requests) / SECONDS_A_MONTH
  console.log(
    `One database of 10 GB is full with ${whole(membersADatabase)} such members, who ask ${fixed(perSecond, 1)} times a second on average.`,
  )
}
