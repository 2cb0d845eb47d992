import { defineConfig } from '@kubb/core'
import { pluginClient } from '@kubb/plugin-client'
import { pluginOas } from '@kubb/plugin-oas'
import { pluginTs } from '@kubb/plugin-ts'

export default defineConfig({
  input: { path: '.build/openapi.json' },
  output: { path: '.build/kubb', format: false },
  plugins: [pluginOas(), pluginTs(), pluginClient({ client: 'fetch' })],
})
