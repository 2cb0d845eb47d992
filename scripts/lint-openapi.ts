// Lints docs/openapi.json with Redocly's recommended rules and Spectral's OWASP rules. Any error fails.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import core, { type RulesetDefinition } from '@stoplight/spectral-core'
import owasp from '@stoplight/spectral-owasp-ruleset'

const FILE = 'docs/openapi.json'
const ERROR_SEVERITY = 0

/** Rules that do not apply, the paths at which they do not, and why. */
const EXEMPTIONS = [
  // The contract's identifiers are longs; another member's resource answers the same 404 as a missing one.
  { code: 'owasp:api1:2023-no-numeric-ids', at: /^paths/ },
  // These endpoints are called before the client has a token.
  { code: 'owasp:api2:2023-write-restricted', at: /^paths\.\/(join|email\/join|login)\./ },
  // Cloudflare's rate limiter reports no counts that a header could show; a 429 carries Retry-After.
  { code: 'owasp:api4:2023-rate-limit', at: /^paths/ },
  // The document states the limits of texts. Bodies of 1 MiB limit the rest, and responses have no other limit.
  { code: 'owasp:api4:2023-string-limit', at: /./ },
  { code: 'owasp:api4:2023-array-limit', at: /./ },
]

const redocly = spawnSync('redocly', ['lint', FILE, '--extends', 'recommended', '--format', 'stylish'], {
  stdio: 'inherit',
  env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
})

const spectral = new core.Spectral()
spectral.setRuleset({ extends: [owasp as RulesetDefinition] })
const results = await spectral.run(JSON.parse(readFileSync(FILE, 'utf8')))
const findings = results.map(({ path, ...rest }) => ({ ...rest, location: path.join('.') }))
const isExempt = ({ code, location }: (typeof findings)[number]) =>
  EXEMPTIONS.some((exemption) => exemption.code === code && exemption.at.test(location))
const errors = findings.filter((finding) => finding.severity === ERROR_SEVERITY && !isExempt(finding))
const unused = EXEMPTIONS.filter((exemption) => !findings.some(({ code }) => code === exemption.code))

for (const { code, location, message } of errors) console.error(`${code} ${location}: ${message}`)
for (const { code } of unused) console.error(`${code} reports nothing: remove its exemption`)
console.log(`OWASP: ${errors.length} errors in ${FILE}`)
process.exit(redocly.status !== 0 || errors.length + unused.length > 0 ? 1 : 0)
