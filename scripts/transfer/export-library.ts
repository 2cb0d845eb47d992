import { createClient, expectOk, type Fetch } from './service.ts'

export const EXPORTS = { json: '/export', csv: '/export.csv', md: '/export/memos.md' } as const
export type ExportFormat = keyof typeof EXPORTS

export const isExportFormat = (name: string): name is ExportFormat => Object.hasOwn(EXPORTS, name)

/** The name of a part: `library.json`, `library.2.json` and so on. */
export const partName = (file: string, part: number) => {
  if (part === 1) return file
  const [, name = file, extension = ''] = /^(.*[^/\\])(\.[^./\\]+)$/s.exec(file) ?? []
  return `${name}.${part}${extension}`
}

/**
 * The path of the next part (RFC 8288), relative to the service.
 * @throws Error if it is at another origin, which must not get the token
 */
export const nextPath = (link: string | null, base: string) => {
  for (const [, target = '', parameters = ''] of (link ?? '').matchAll(/<([^<>]*)>([^<>]*)/g)) {
    if (!/;\s*rel="?next\b/i.test(parameters)) continue
    // A path is that of the service, which may be below a prefix that it does not know.
    if (/^\/(?!\/)/.test(target)) return target
    const url = new URL(target, `${base}/`)
    if (!url.href.startsWith(`${base}/`)) throw new Error(`The next part is at another address: ${url.origin}`)
    return url.href.slice(base.length)
  }
  return undefined
}

async function* counted(content: AsyncIterable<Uint8Array>, report: (bytes: number) => void) {
  let bytes = 0
  try {
    for await (const chunk of content) {
      bytes += chunk.length
      report(bytes)
      yield chunk
    }
  } catch (cause) {
    throw new Error(`The connection was lost after ${bytes} bytes. Run the command again.`, { cause })
  }
}

type Options = {
  fetch: Fetch
  base: string
  token: string
  format: ExportFormat
  /** Called for each part, the first is 1. */
  write: (part: number, content: AsyncIterable<Uint8Array>) => Promise<void>
  /** Called as the bytes of a part arrive. */
  report: (part: number, bytes: number) => void
}

/** Downloads all parts of an export, and returns how many there are. @throws Error that says what to do */
export const exportLibrary = async ({ fetch, base, token, format, write, report }: Options) => {
  const send = createClient(fetch, base, token)
  let part = 0
  for (let path: string | undefined = EXPORTS[format]; path !== undefined; ) {
    part += 1
    const response: Response = await expectOk(await send('GET', path))
    const number = part
    await write(
      part,
      counted(response.body ?? new Blob([]).stream(), (bytes) => report(number, bytes)),
    )
    path = nextPath(response.headers.get('Link'), base)
  }
  return part
}
