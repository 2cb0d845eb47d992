// The arguments of `npm run import` and `npm run export`.
import { printError } from '../print.ts'

export const SERVICE_OPTIONS = {
  url: { type: 'string', default: 'http://localhost:8787' },
  token: { type: 'string' },
} as const

export const SERVICE_USAGE = `  --url          the URL of the service (default ${SERVICE_OPTIONS.url.default})
  --token        a token of a login, or an access token (default: the environment variable LIBRARY_TOKEN)`

/** Ends the process. Of an import, 1 is for rows that failed. */
export const fail = (message: string, code = 2): never => {
  printError(message)
  process.exit(code)
}

export const readService = ({ url, token = process.env.LIBRARY_TOKEN }: { url: string; token?: string }) => {
  if (!token) return fail('No token: pass --token, or set LIBRARY_TOKEN.')
  if (!/^https?:/.test(url) || !URL.canParse(url)) return fail(`${url} is not a URL such as https://library.example`)
  return { base: url.replace(/\/+$/, ''), token }
}
