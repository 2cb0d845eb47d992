// Holds the API's document against Redocly's recommended rules and Spectral's OWASP rules: an error of either fails.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import core, { type RulesetDefinition } from '@stoplight/spectral-core'
import owasp from '@stoplight/spectral-owasp-ruleset'

const FILE = 'docs/openapi.json'
const ERROR = 0

/** The rules that cannot apply, each where it cannot, and why. */
const EXEMPT = [
  // The contract's identifiers are longs. What is another's is told from what is absent by nothing.
  { code: 'owasp:api1:2023-no-numeric-ids', at: /^paths/ },
  // Who has no token yet can bring none.
  { code: 'owasp:api2:2023-write-restricted', at: /^paths\.\/(join|email\/join|login)\./ },
  // The platform's limiter tells yes or no, and no counts that a header could show; 429 says when to come back.
  { code: 'owasp:api4:2023-rate-limit', at: /^paths/ },
]

const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
const redocly = spawnSync('redocly', ['lint', FILE, '--extends', 'recommended', '--format', 'stylish'], {
  stdio: 'inherit',
  env,
})

const spectral = new core.Spectral()
spectral.setRuleset({ extends: [owasp as RulesetDefinition] })
const results = await spectral.run(JSON.parse(readFileSync(FILE, 'utf8')))
const found = results.map(({ path, ...rest }) => ({ ...rest, place: path.join('.') }))
const isExempt = ({ code, place }: (typeof found)[number]) =>
  EXEMPT.some((exempt) => exempt.code === code && exempt.at.test(place))
const errors = found.filter((each) => each.severity === ERROR && !isExempt(each))
const idle = EXEMPT.filter((exempt) => !found.some(({ code }) => code === exempt.code))

for (const { code, place, message } of errors) console.error(`${code} ${place}: ${message}`)
for (const { code } of idle) console.error(`${code} finds nothing: take its exemption away`)
console.log(`OWASP: ${errors.length} errors in ${FILE}`)
process.exit(redocly.status !== 0 || errors.length + idle.length > 0 ? 1 : 0)
