// The cost of a cold start: loading the module in a new workerd, minus a request that loads nothing.
import { median, sendRequest } from '../support/http-client.ts'
import { startWorkers } from './workers.ts'

const timeLoad = async () => {
  const { urlOf, stop } = await startWorkers('loading')
  const time = async (path: string) => {
    const start = performance.now()
    await sendRequest(urlOf.loading, { method: 'GET', path })
    return performance.now() - start
  }
  try {
    await time('/')
    const idle = median([await time('/'), await time('/'), await time('/')])
    return (await time('/load')) - idle
  } finally {
    await stop()
  }
}

/** The median milliseconds that the service's module takes to load. */
export const measureStartup = async (times: number) => {
  const samples: number[] = []
  for (let n = 0; n < times; n++) samples.push(await timeLoad())
  return median(samples)
}
