// Random sequences of requests, after which every answer of the service must equal that of a plain in-memory model.
import { type ModelReport, type Send, tryModel } from '../../support/model/run'
import { type Attack, concurrently } from '../harness/attack'
import { toLines } from '../harness/client'
import { insertMember } from '../harness/members'
import type { Service } from '../harness/service'

/** Members who write at the same time. */
const LANES = 4

/** A new member, as whom requests are sent. */
export const connectTo = (service: Service) => async (): Promise<Send> => {
  const { token } = await insertMember(service)
  return async ({ method, path, body, headers = {} }) => {
    const content = body === undefined ? {} : { body: JSON.stringify(body) }
    return service.request({ method, path, token, headers: toLines(Object.entries(headers)), ...content })
  }
}

const sum = (reports: ModelReport[], name: 'sequences' | 'requests') =>
  reports.reduce((total, report) => total + report[name], 0)

export const model: Attack = async ({ quick, seed, progress, start }) => {
  const service = await start({ writesPerMinute: 1e9 })
  const total = quick ? 20 : 10_000
  let done = 0
  const reports = await concurrently(LANES, (lane) =>
    tryModel(connectTo(service), {
      numRuns: total / LANES,
      seed: seed + lane,
      progress: () => {
        done += 1
        if (done % 500 === 0) progress(`${done} of ${total} sequences`)
      },
    }),
  )
  const failures = reports.flatMap(({ failure }) => failure ?? [])
  const mismatches = await service.findMismatches()
  failures.push(...mismatches)
  return {
    figures: [
      [
        'random sequences of writes, each compared with the model',
        sum(reports, 'sequences'),
        `${failures.length} differ`,
      ],
      ['requests in them', sum(reports, 'requests'), 'every answer compared'],
      ['integrity checks of the databases', service.databases.length, `${mismatches.length} mismatches`],
    ],
    failures,
  }
}
