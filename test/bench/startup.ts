// The cost of a cold start: loading the module in a new workerd, minus a request that loads nothing.
import { median } from '../support/http-client.ts'
import { timeGet } from './throughput.ts'
import { startWorkers } from './workers.ts'

const timeLoad = async () => {
  const { urlOf, stop } = await startWorkers('loading')
  const time = (path: string) => timeGet(urlOf.loading, path)
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
