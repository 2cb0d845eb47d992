// What a cold start pays: the module's load, in fresh workerds, beside a request that loads nothing.
import { ask, median } from '../support/http-client.ts'
import { startWorkers } from '../support/workerd.ts'

const timeLoad = async () => {
  const { urlOf, stop } = await startWorkers('loading')
  const time = async (path: string) => {
    const start = performance.now()
    await ask(urlOf.loading, { method: 'GET', path })
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

/** The milliseconds that the service's module takes to load. */
export const measureStartup = async (times: number) => {
  const samples: number[] = []
  for (let n = 0; n < times; n++) samples.push(await timeLoad())
  return median(samples)
}
