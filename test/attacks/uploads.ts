// Uploads that mean harm, and so many large ones at once that all of them would not fit.
import { readFileSync } from 'node:fs'
import { join, toText } from '../support/bytes'
import { BAD_MARKS, hostileFiles } from '../support/hostile'
import { hostileForms } from '../support/hostile-forms'
import { chunk, PNG_SIGNATURE, pngHeader } from '../support/pictures'
import type { Reply } from './client'
import { type Member, signUp, upload } from './members'
import { watchMemory } from './memory'
import type { Findings, Part, Run } from './part'
import type { Service } from './service'

const MIB = 1_048_576
/** What an isolate may hold on the platform. */
const LIMIT = 128 * MIB
const AT_ONCE = 20
const IMAGE_URL = /^https:\/\/library\.example(\/images\/[1-9]\d*\/[\w-]{22}\.(?:png|jpg|gif|webp|avif))$/

/** What is wrong with the answer to an upload, or with the picture that is served for it; undefined when nothing is. */
const judge = async (service: Service, { status, body }: Reply) => {
  if ([400, 413, 415].includes(status)) return undefined
  if (status !== 201) return `answered ${status}`
  const path = IMAGE_URL.exec(String(body))?.[1]
  if (!path) return `its address is ${body}`
  const served = await service.ask({ method: 'GET', path })
  const type = served.headers.get('Content-Type') ?? ''
  if (served.status !== 200 || !/^image\/(png|jpeg|gif|webp|avif)$/.test(type))
    return `is served as ${type}, ${served.status}`
  if (served.headers.get('X-Content-Type-Options') !== 'nosniff') return 'may be sniffed'
  const marks = BAD_MARKS.filter((mark) => toText(served.bytes).includes(mark))
  return marks.length > 0 ? `is served with ${marks.join(', ')}` : undefined
}

const sendFiles = async (service: Service, member: Member): Promise<Findings> => {
  const failures: string[] = []
  let kept = 0
  const files = hostileFiles()
  for (const { name, bytes, isPicture } of files) {
    const answer = await service.ask(upload(member, bytes))
    if (answer.status === 201) kept += 1
    const wrong =
      (answer.status === 201) === Boolean(isPicture) ? await judge(service, answer) : `answered ${answer.status}`
    if (wrong) failures.push(`${name}: ${wrong}`)
  }
  const found = `${files.length - kept} refused, ${kept} served clean, ${failures.length} harmful`
  return { figures: [{ tried: 'hostile files', times: files.length, found }], failures }
}

const sendForms = async (service: Service, member: Member): Promise<Findings> => {
  const failures: string[] = []
  const forms = hostileForms()
  for (const { name, type, body } of forms) {
    const answer = await service.ask(upload(member, body, { type, body: Buffer.from(body) }))
    const wrong = await judge(service, answer)
    if (wrong) failures.push(`${name}: ${wrong}`)
  }
  const found = `${failures.length} harmful`
  return { figures: [{ tried: 'hostile forms around a good picture', times: forms.length, found }], failures }
}

/** A picture of 10 MiB, all of which is kept. */
const makeLarge = () => {
  const around = join(PNG_SIGNATURE, pngHeader(4, 1), chunk('IDAT'), chunk('IEND')).length
  const data = chunk('IDAT', new Uint8Array(10 * MIB - around).fill(7))
  return join(PNG_SIGNATURE, pngHeader(4, 1), data, chunk('IEND'))
}

const crowd = async ({ start, progress }: Run): Promise<Findings> => {
  const service = await start({ uploads: 1e9, inspected: true })
  const members = await Promise.all(Array.from({ length: 4 }, () => signUp(service)))
  const large = makeLarge()
  const statuses: Record<string, number> = {}
  const uploadAll = () =>
    Promise.all(
      Array.from({ length: AT_ONCE }, async (_, n) => {
        const outcome = await service.ask(upload(members[n % members.length] as Member, large)).then(
          ({ status }) => String(status),
          (error: Error) => error.message,
        )
        statuses[outcome] = (statuses[outcome] ?? 0) + 1
      }),
    )
  const idle = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))?.[1]) * 1024
  progress(`${AT_ONCE} uploads of 10 MiB at once`)
  const peak = await watchMemory(service, uploadAll)
  const inUse = await watchMemory(service, uploadAll, true)
  const healthy = (await service.ask({ method: 'GET', path: '/health' })).status
  const counted = Object.entries(statuses).map(([status, times]) => `${times} × ${status}`)
  const failures: string[] = []
  if (peak.isolate > LIMIT) failures.push(`the Worker held ${Math.round(peak.isolate / MIB)} MiB, over ${LIMIT / MIB}`)
  if (healthy !== 200) failures.push(`it is not well afterwards: ${healthy}`)
  const odd = Object.keys(statuses).filter((status) => !['201', '429', '503'].includes(status))
  if (odd.length > 0) failures.push(`uploads of 10 MiB at once: ${odd.join(', ')}`)
  return {
    figures: [
      { tried: 'uploads of 10 MiB at once', times: 2 * AT_ONCE, found: counted.join(', ') },
      {
        tried: 'MiB held by the isolate at most, heap and buffers, garbage included',
        times: Math.round(peak.isolate / MIB),
        found: `limit ${LIMIT / MIB}`,
      },
      {
        tried: 'MiB of these in use, garbage collected first',
        times: Math.round(inUse.isolate / MIB),
        found: `limit ${LIMIT / MIB}`,
      },
      {
        tried: 'MiB of the whole process at most, its storage included',
        times: Math.round(peak.process / MIB),
        found: `${Math.round(idle / MIB)} when idle`,
      },
    ],
    failures,
  }
}

export const uploads: Part = async (run) => {
  const service = await run.start({ uploads: 1e9 })
  const member = await signUp(service)
  run.progress('hostile files')
  const files = await sendFiles(service, member)
  run.progress('hostile forms')
  const forms = await sendForms(service, member)
  const all = [files, forms, await crowd(run)]
  return { figures: all.flatMap(({ figures }) => figures), failures: all.flatMap(({ failures }) => failures) }
}
