import type { Env, Schema } from 'hono'
import { HonoBase } from 'hono/hono-base'
import type { BlankSchema } from 'hono/types'
import { createRouter } from './router'

/** Hono with the router of this service. The class of `hono` would bundle routers that nothing uses: 1.4 KB. */
export class Hono<E extends Env, S extends Schema = BlankSchema, BasePath extends string = '/'> extends HonoBase<
  E,
  S,
  BasePath
> {
  constructor() {
    super()
    this.router = createRouter()
  }
}
