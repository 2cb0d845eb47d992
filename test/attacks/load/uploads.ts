// Hostile uploads, images with very many parts, and more concurrent large uploads than fit into the memory of an isolate.
import { MAX_PARTS } from '../../../src/transfer/reader/images/image'
import { toText } from '../../support/bytes'
import { CROWDED_IMAGES } from '../../support/images/crowded-images'
import { pngWithData } from '../../support/images/pictures'
import { BAD_MARKS, hostileFiles } from '../../support/inputs/hostile'
import { hostileForms } from '../../support/inputs/hostile-forms'
import { readReader } from '../../support/service/reader'
import { MEMORY_LIMIT, MIB, readResidentMemory, toMib, watchMemory } from '../../support/service/watch-memory'
import {
  type Attack,
  type Context,
  concurrently,
  countStatuses,
  createChecks,
  type Figure,
  mergeReports,
  type Report,
} from '../harness/attack'
import type { Request, Response } from '../harness/client'
import { type Member, signUp, signUpMany, uploadRequest } from '../harness/members'
import type { Service } from '../harness/service'

const IMAGE_URL = /^https:\/\/library\.example(\/images\/[1-9]\d*\/[\w-]{22}\.(?:png|jpg|gif|webp))$/

/** What is wrong with the response to an upload, or with the image it links to. */
const findProblem = async (service: Service, { status, body }: Response) => {
  if ([400, 413, 415].includes(status)) return undefined
  if (status !== 201) return `responded ${status}`
  const path = IMAGE_URL.exec(String(body))?.[1]
  if (!path) return `has the URL ${body}`
  const image = await service.request({ method: 'GET', path })
  const type = image.headers.get('Content-Type') ?? ''
  if (image.status !== 200 || !/^image\/(png|jpeg|gif|webp)$/.test(type)) {
    return `is served as ${type} with ${image.status}`
  }
  if (image.headers.get('X-Content-Type-Options') !== 'nosniff') return 'is served without nosniff'
  const marks = BAD_MARKS.filter((mark) => toText(image.bytes).includes(mark))
  return marks.length > 0 ? `is served with ${marks.join(', ')}` : undefined
}

type Case = { name: string; request: Request; expected: number }

const uploadAll = async (service: Service, cases: Case[]) => {
  const failures: string[] = []
  const statuses: number[] = []
  for (const { name, request, expected } of cases) {
    const response = await service.request(request)
    statuses.push(response.status)
    const problem = response.status === expected ? await findProblem(service, response) : `responded ${response.status}`
    if (problem) failures.push(`${name}: ${problem}`)
  }
  return { statuses, failures }
}

/** An image of 10 MiB without metadata, so that all of it is stored. */
const makeLargePicture = () => pngWithData(new Uint8Array(10 * MIB - pngWithData('').length).fill(7))

const uploadConcurrently = async ({ start, quick, progress }: Context): Promise<Report> => {
  const count = quick ? 4 : 20
  const service = await start({ uploadsPerMinute: 1e9, inspected: true })
  const members = await signUpMany(service, 4)
  const picture = makeLargePicture()
  const outcomes: string[] = []
  const upload = async (member: Member) => {
    try {
      outcomes.push(String((await service.request(uploadRequest(member, picture))).status))
    } catch (error) {
      outcomes.push(String(error))
    }
  }
  const callers = Array.from({ length: count }, (_, n) => members[n % members.length] as Member)
  let uploading: Promise<unknown> | undefined
  const uploadConcurrent = () => {
    uploading ??= Promise.all(callers.map(upload))
    return uploading
  }
  const idle = readResidentMemory(service.pid)
  progress(`${count} concurrent uploads of 10 MiB`)
  const [peak, ofReader] = await Promise.all([
    watchMemory(service, uploadConcurrent),
    watchMemory({ ...service, name: readReader().name }, uploadConcurrent),
  ])
  const health = (await service.request({ method: 'GET', path: '/health' })).status
  const failures: string[] = []
  for (const { isolate } of [peak, ofReader]) {
    if (isolate > MEMORY_LIMIT) failures.push(`a Worker held ${toMib(isolate)} MiB`)
  }
  if (health !== 200) failures.push(`the service is unhealthy afterwards: ${health}`)
  const unexpected = outcomes.filter((outcome) => !['201', '429', '503'].includes(outcome))
  if (unexpected.length > 0) failures.push(`concurrent uploads of 10 MiB: ${unexpected.join(', ')}`)
  const limit = `limit ${toMib(MEMORY_LIMIT)}`
  return {
    figures: [
      ['concurrent uploads of 10 MiB', outcomes.length, countStatuses(outcomes)],
      ['peak MiB of the isolate, heap and buffers, garbage included', toMib(peak.isolate), limit],
      ['peak MiB of the isolate that cleans them', toMib(ofReader.isolate), limit],
      ['peak MiB of the whole process, storage included', toMib(peak.process), `${toMib(idle)} when idle`],
    ],
    failures,
  }
}

/** Far above what one image or one round of hashing takes, and below what an image of 10 MiB took without a limit. */
const PROMPT_MS = 500

/** Makes an image with as many parts as fit into 10 MiB. */
const fillWithParts = (make: (parts: number) => Uint8Array) => {
  const bytesPerPart = (make(2000).length - make(1000).length) / 1000
  return make(Math.floor((10 * MIB - 1000) / bytesPerPart))
}

/** Sends one request after another until `work` is done. Returns the longest time that one took, in milliseconds. */
const measureDuring = async (work: Promise<unknown>, send: () => Promise<Response>) => {
  let isDone = false
  const done = work.finally(() => {
    isDone = true
  })
  let slowest = 0
  while (!isDone) {
    const begin = performance.now()
    await send()
    slowest = Math.max(slowest, performance.now() - begin)
  }
  await done
  return Math.round(slowest)
}

const uploadCrowded = async ({ start, quick, progress }: Context): Promise<Report> => {
  const [formats, count] = quick ? [1, 2] : [undefined, 8]
  const service = await start({ uploadsPerMinute: 1e9 })
  const [attacker, reader] = [await signUp(service), await signUp(service)]
  const { check, failures } = createChecks()
  const figures: Figure[] = []
  const read = () => service.request({ method: 'GET', path: '/members/me', token: reader.token })
  for (const [format, make] of Object.entries(CROWDED_IMAGES).slice(0, formats)) {
    const files: [name: string, file: Uint8Array, status: number][] = [
      ['20,000 parts', make(MAX_PARTS), 201],
      ['as many parts as fit into 10 MiB', fillWithParts(make), 413],
    ]
    for (const [name, file, status] of files) {
      const what = `${count} concurrent uploads, ${format} of ${name}`
      progress(what)
      const uploading = concurrently(count, () => service.request(uploadRequest(attacker, file)))
      const slowest = await measureDuring(uploading, read)
      const statuses = countStatuses((await uploading).map((response) => response.status))
      check(what, statuses, `${count} × ${status}`)
      if (!quick && slowest > PROMPT_MS) failures.push(`${what}: another member waited ${slowest} ms`)
      figures.push([`${what}: slowest response to another member, ms`, slowest, statuses])
    }
  }
  return { figures, failures }
}

export const uploads: Attack = async (context) => {
  const service = await context.start({ uploadsPerMinute: 1e9 })
  const member = await signUp(service)
  context.progress('hostile files')
  const chosen = hostileFiles().filter((_, n) => !context.quick || n % 6 === context.seed % 6)
  const files = chosen.map(({ name, bytes, status }) => {
    return { name, request: uploadRequest(member, bytes), expected: status }
  })
  const { statuses, failures } = await uploadAll(service, files)
  context.progress('hostile forms')
  const forms = hostileForms().map(({ name, type, body, status }) => {
    const request = { ...uploadRequest(member), type, body }
    return { name: `a form with ${name}`, request, expected: status }
  })
  const { failures: formFailures } = await uploadAll(service, forms)
  const report: Report = {
    figures: [
      ['valid and hostile files', files.length, `${countStatuses(statuses)}; ${failures.length} wrong or harmful`],
      ['hostile forms with a valid image', forms.length, `${formFailures.length} harmful`],
    ],
    failures: [...failures, ...formFailures],
  }
  return mergeReports(report, await uploadCrowded(context), await uploadConcurrently(context))
}
