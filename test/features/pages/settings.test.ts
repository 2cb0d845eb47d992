/// <reference types="vite/types/importMeta.d.ts" />
import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import deploy from '../../../docs/deploy.md?raw'
import { type Bindings, configure } from '../../../src/env'

it('docs/deploy.md has the defaults of settings', () => {
  const documented = [...deploy.matchAll(/^- `([A-Z_]+)` \(`([^`]+)`/gm)].map(([, name = '', value]) => ({
    name,
    value,
  }))
  const unset = Object.fromEntries(documented.map(({ name }) => [name, undefined]))
  const config: Record<string, unknown> = configure({ ...env, ...unset } as unknown as Bindings)
  // CORS_ORIGINS is read for each request. The default of some is another setting.
  const listed = documented.filter(({ name, value }) => name in config && value !== 'PUBLIC_URL')
  expect(listed.length).toBeGreaterThan(10)
  expect(listed.map(({ name }) => ({ name, value: String(config[name]) }))).toEqual(listed)
})
