// The service, but it halts at a database call, so that the attack can kill it there. X-Halt sets the call for the next flow.
import service from '../../support/service/service.js'
import { wrapEnv } from '../../support/wrap-database.ts'

type Env = { DB: D1Database }
let halt: { call: number; order: 'before' | 'after' } | undefined
let calls = 0

const wait = async () => {
  console.log('halted')
  await scheduler.wait(60_000)
}

const withHalt = wrapEnv<Env>(() => async (call) => {
  calls += 1
  const isHere = calls === halt?.call
  if (isHere && halt?.order === 'before') await wait()
  const result = await call()
  if (isHere && halt?.order === 'after') await wait()
  return result
})

export default {
  fetch: (request, env, context) => {
    const header = request.headers.get('X-Halt')
    if (!header) return service.fetch(request, withHalt(env), context)
    halt = JSON.parse(header)
    calls = 0
    return new Response()
  },
  scheduled: (event, env, context) => service.scheduled(event, withHalt(env), context),
} satisfies ExportedHandler<Env>
