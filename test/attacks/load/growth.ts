// Texts that take the most work for their size, in files of all import formats, in requests to all operations, and in what
// a library has: at one, two and four times the size. The CPU time may grow with an exponent of at most 1.2.
import type { FormatName } from '../../../src/transfer/entries/entry'
import { ImportFileError } from '../../../src/transfer/entries/entry'
import { operations } from '../../support/document/operations'
import { type Ids, PLACES, REQUEST_TEXTS, VARIED } from '../../support/inputs/hostile-requests'
import { HOSTILE_TEXTS } from '../../support/inputs/hostile-texts'
import { MAX_EXPONENT, type Meter, measureExponent } from '../../support/runtime/exponent'
import { HOSTILE_FILES, HOSTILE_SIZES, readAndMatch, toHostileImport } from '../../support/transfer/hostile-imports'
import { type Attack, type Context, countStatuses, mergeReports, type Report } from '../harness/attack'
import type { Request } from '../harness/client'
import { readCpuMs } from '../harness/cpu'
import { fillHostileLibrary, type HostileLibrary, READS } from '../harness/hostile-library'
import { insertMember, jsonRequest, registerBook, writeMemo } from '../harness/members'
import type { Service } from '../harness/service'

type Case = { name: string; measure: () => Promise<{ exponent: number; milliseconds: number }> }

/** @param nth measures only each of so many cases, in quick runs */
const measureCases = async (what: string, cases: Case[], nth: number, { quick, seed, progress }: Context) => {
  const chosen = quick ? cases.filter((_, at) => (at + seed) % nth === 0) : cases
  const failures: string[] = []
  let [highest, slowest] = [{ name: '', exponent: 0 }, 0]
  for (const [at, { name, measure }] of chosen.entries()) {
    const { exponent, milliseconds } = await measure()
    if (exponent > highest.exponent) highest = { name, exponent }
    slowest = Math.max(slowest, milliseconds)
    if (exponent > MAX_EXPONENT) failures.push(`${name}: the exponent is ${exponent.toFixed(2)}`)
    if (at % 100 === 99) progress(`${at + 1} of ${chosen.length} ${what}, ${failures.length} failures`)
  }
  progress(`the highest exponent: ${highest.name}`)
  const result = `exponent at most ${highest.exponent.toFixed(2)}, ${Math.ceil(slowest)} ms`
  return { figures: [[what, chosen.length, result]], failures } satisfies Report
}

const importCases = () =>
  (Object.keys(HOSTILE_FILES) as FormatName[]).flatMap((format) =>
    Object.entries(HOSTILE_TEXTS).flatMap(([text, part]) =>
      Object.entries(HOSTILE_SIZES).map(([size, toSize]): Case => {
        const make = (factor: number) => toHostileImport(format, part, toSize(factor))
        // With semicolons in its texts, a file without a header may be no table.
        const skipRefused = (error: Error) => {
          if (error instanceof ImportFileError) return { exponent: 0, milliseconds: 0 }
          throw error
        }
        const measure = async () => measureExponent(make, readAndMatch)
        return { name: `${format}, ${text}, ${size}`, measure: () => measure().catch(skipRefused) }
      }),
    ),
  )

/** The CPU time of the whole service, its databases included. */
const meterOf = ({ pid }: Service): Meter => ({ readMs: () => readCpuMs(pid), leastMs: 4 })

/** Forgets what exact limits have counted. */
const forgetAttempts = ({ databases }: Service) =>
  Promise.all(databases.map((database) => database.prepare('delete from attempts').run()))

const createCaller = async (service: Service) => {
  const caller = await insertMember(service)
  const bookId = String(await registerBook(service, caller, { bookStatus: 'ING', itemPage: 300 }))
  const from = await registerBook(service, caller)
  const memoId = String(await writeMemo(service, caller, Number(bookId)))
  const { token } = caller
  await service.request(jsonRequest('PUT', `/books/${bookId}/tags`, { tags: ['Essay', 'novel'] }, { token }))
  const link = await service.request(jsonRequest('POST', '/links', { name: 'Shelf', kind: 'SHELF' }, { token }))
  const { linkId, url } = link.body as Record<string, string>
  // The first reading of a book has the identifier of the book.
  const ids: Ids = { 'book-id': bookId, bookId, 'reading-id': bookId, 'memo-id': memoId, 'link-id': linkId ?? '' }
  return { token, from, ids: { ...ids, link: url?.split('/').at(-1) ?? '' } }
}

const measureRequests = async (context: Context): Promise<Report> => {
  const service = await context.start({ uploadsPerMinute: 1e9 })
  const meter = meterOf(service)
  const statuses: number[] = []
  const failures: string[] = []
  const cases = operations.flatMap((operation, number) =>
    Object.entries(PLACES).flatMap(([place, toPlace]) => {
      const { needsToken, method, template } = operation
      if (!toPlace(operation, {})) return []
      const texts = Object.entries(REQUEST_TEXTS).filter((_, at) => VARIED.includes(place) || (at + number) % 5 === 0)
      return texts.map(([text, part]): Case => {
        const name = `${method} ${template}, ${place}: ${text}`
        const measure = async () => {
          await forgetAttempts(service)
          const { token, ids } = await createCaller(service)
          const toRequest = toPlace(operation, ids)
          const run = async (request: Request) => {
            const { status } = await service.request(request)
            statuses.push(status)
            if (status >= 500) failures.push(`${name}: ${status}`)
          }
          const make = (factor: number): Request => {
            const request = toRequest?.(part, factor)
            if (!request) throw new Error(`${place} has no request`)
            return { ...request, ...(needsToken && place !== 'Authorization' && { token }) }
          }
          return measureExponent(make, run, meter)
        }
        return { name, measure }
      })
    }),
  )
  const report = await measureCases('texts in requests', cases, 202, context)
  return mergeReports(report, { figures: [['responses to them', statuses.length, countStatuses(statuses)]], failures })
}

const measureReads = async (context: Context): Promise<Report> => {
  const service = await context.start({ uploadsPerMinute: 1e9 })
  const meter = meterOf(service)
  const failures: string[] = []
  const cases = Object.entries(HOSTILE_TEXTS).flatMap(([text, part]) => {
    const fill = () => Promise.all([1, 2, 4].map((factor) => fillHostileLibrary(service, part, factor)))
    let filled: ReturnType<typeof fill> | undefined
    return READS.map(([read, toPath]): Case => {
      const name = `${read}, ${text}`
      const measure = async () => {
        filled ??= fill()
        const libraries = await filled
        const make = (factor: number) => toPath(libraries[Math.log2(factor)] as HostileLibrary)
        const run = async (request: Request) => {
          const { status } = await service.request(request)
          if (status !== 200) failures.push(`${name}: ${status}`)
        }
        return measureExponent(make, run, { ...meter, prepare: () => forgetAttempts(service) })
      }
      return { name, measure }
    })
  })
  return mergeReports(await measureCases('texts in what is read', cases, 614, context), { figures: [], failures })
}

export const growth: Attack = async (context) =>
  mergeReports(
    await measureCases('formats, texts and sizes of imports', importCases(), 106, context),
    await measureRequests(context),
    await measureReads(context),
  )
