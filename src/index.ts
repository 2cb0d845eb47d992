import { app } from './app'
import type { Bindings } from './env'
import { sweep } from './sweep'

export default { fetch: app.fetch, scheduled: (_, env) => sweep(env) } satisfies ExportedHandler<Bindings>
