// Lints docs/openapi.json with Redocly's strict rules, and Spectral's rules for OpenAPI and of OWASP. Any finding
// fails.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import core, { type RulesetDefinition } from '@stoplight/spectral-core'
import owasp from '@stoplight/spectral-owasp-ruleset'
import rulesets from '@stoplight/spectral-rulesets'
import { print, printError } from './print.ts'

const FILE = 'docs/openapi.json'

/** Rules of Spectral that do not apply anywhere, and why. */
const OFF = [
  // The contract's identifiers are longs; another member's resource answers the same 404 as a missing one.
  'owasp:api1:2023-no-numeric-ids',
  // Cloudflare's rate limiter reports no counts that a header could show; a 429 carries Retry-After.
  'owasp:api4:2023-rate-limit',
  // The document states the limits of texts. Bodies of 1 MiB limit the rest, and responses have no other limit.
  'owasp:api4:2023-string-limit',
  'owasp:api4:2023-array-limit',
  // Names, titles and memos are free text.
  'owasp:api4:2023-string-restricted',
]

/** Exceptions: a rule, the paths to which it does not apply, and why. */
const EXEMPTIONS = [
  // A book-id is a number, so only one of the two matches a valid request.
  { code: 'no-ambiguous-paths', at: /^paths\.\/books\/(created-date|by-isbn|\{book-id\})\// },
  // A health check takes no input and no token.
  { code: 'operation-4xx-response', at: /^paths\.\/health\./ },
  // These endpoints are called before the client has a token.
  {
    code: 'owasp:api2:2023-write-restricted',
    at: /^paths\.\/(join|email\/(join|password-reset|password-change|change\/undo)|password-reset|login)\./,
  },
  // Images are loaded by <img>, which sends no token; their addresses, and those of links, cannot be guessed. Catalogue
  // entries are public.
  { code: 'owasp:api2:2023-read-restricted', at: /^paths\.\/(health|images\/|ext-lib\/|l\/)/ },
  // Limited are writes and the endpoints that are expensive without a token.
  { code: 'owasp:api4:2023-rate-limit-responses-429', at: /\.get\.responses$/ },
  // These endpoints need no token.
  {
    code: 'owasp:api8:2023-define-error-responses-401',
    at: /^paths\.\/(health|join|email\/(join|password-reset|password-change|change\/undo)|password-reset|images\/|ext-lib\/|l\/)/,
  },
  // These endpoints take no input that could be invalid; an invalid image path is not found.
  {
    code: 'owasp:api8:2023-define-error-validation',
    at: /^paths\.\/(health|members\/me(\.get|\.delete|\/(activity|settings))|memos\/random|images\/|ext-lib\/)/,
  },
  {
    code: 'owasp:api8:2023-define-error-validation',
    at: /^paths\.\/((books\/counts|imports|links|tags|tokens)\.get|tokens\.delete)/,
  },
  // It is the identifier of a token, not the token.
  { code: 'owasp:api2:2023-no-credentials-in-url', at: /^paths\.\/tokens\/\{token-id\}(\/\w+)?\./ },
  { code: 'owasp:api8:2023-define-error-validation', at: /^paths\.\/(logout|sessions|sessions\/renew)\./ },
  // OpenAPI 3.1 allows the names of roles here for any scheme; the rule knows only the scopes of OAuth 2.
  { code: 'oas3-operation-security-defined', at: /^paths\..+\.security\.0\.bearer\.\d$/ },
]

type Finding = { code: string; location: string; message: string }

const lintWithRedocly = (): Finding[] => {
  const options = ['--extends', 'recommended-strict', '--max-problems', '1000', '--format', 'json']
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const { stdout, stderr } = spawnSync('redocly', ['lint', FILE, ...options], { encoding: 'utf8', env })
  if (!stdout) throw new Error(`redocly failed: ${stderr}`)
  type Problem = { ruleId: string; message: string; location: { pointer: string }[] }
  return JSON.parse(stdout).problems.map(({ ruleId, message, location }: Problem) => {
    const keys = location[0]?.pointer.split('/').slice(1) ?? []
    return {
      code: ruleId,
      location: keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~')).join('.'),
      message,
    }
  })
}

const lintWithSpectral = async (): Promise<Finding[]> => {
  const spectral = new core.Spectral()
  const rules = Object.fromEntries(OFF.map((code) => [code, 'off']))
  spectral.setRuleset({ extends: [rulesets.oas, owasp as RulesetDefinition], rules } as RulesetDefinition)
  const results = await spectral.run(JSON.parse(readFileSync(FILE, 'utf8')))
  return results.map(({ code, path, message }) => ({ code: String(code), location: path.join('.'), message }))
}

const findings = [...lintWithRedocly(), ...(await lintWithSpectral())]
const matches = ({ code, at }: (typeof EXEMPTIONS)[number], finding: Finding) =>
  code === finding.code && at.test(finding.location)
const problems = findings.filter((finding) => !EXEMPTIONS.some((exemption) => matches(exemption, finding)))
const unused = EXEMPTIONS.filter((exemption) => !findings.some((finding) => matches(exemption, finding)))

for (const { code, location, message } of problems) printError(`${code} ${location}: ${message}`)
for (const { code, at } of unused) printError(`${code} reports nothing at ${at}: remove its exemption`)
print(`${problems.length} problems in ${FILE}, ${findings.length - problems.length} exempted`)
process.exit(problems.length + unused.length > 0 ? 1 : 0)
