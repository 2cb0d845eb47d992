// Only discards bodies, to measure the cost of receiving one.
export default {
  async fetch({ body }) {
    const reader = body?.getReader({ mode: 'byob' })
    let buffer = new Uint8Array(65_536)
    while (reader) {
      const { done, value } = await reader.read(buffer)
      if (done) break
      buffer = new Uint8Array(value.buffer)
    }
    return new Response(null, { status: 401 })
  },
} satisfies ExportedHandler
