import { expect, it } from 'vitest'
import * as z from 'zod/mini'
import { FULL_DATE } from '../../../src/values/fields'

it('accepts the dates that z.iso.date accepts', () => {
  expect(`^${FULL_DATE}$`).toBe(z.iso.date().def.pattern?.source)
})
