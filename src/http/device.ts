import type { Context } from 'hono'
import type { App } from '../env'

/** The device and country of a request, as members see them. */
export const originOf = (_: Context<App>) => ({ device: null, country: null })
