import { expect, it } from 'vitest'
import { deploy } from '../../../scripts/deploy/deploy.ts'
import { requireOwnDatabases, toEnvironment, withConfig } from '../../../scripts/deploy/environment.ts'
import type { Config } from '../../../scripts/deploy/host.ts'
import { parseSlots } from '../../../scripts/slots/table.ts'
import {
  CONFIG,
  deployedAccount,
  MAIL_FROM,
  NAMESPACE_ID,
  READER,
  type Row,
  workOn,
} from '../../support/deploy/fake-account'

const PRODUCTION: Config = {
  ...CONFIG,
  account_id: 'a',
  routes: [{ pattern: 'library.example', custom_domain: true }],
  vars: { PUBLIC_URL: 'https://library.example', CORS_ORIGINS: 'https://app.example' },
  d1_databases: [{ binding: 'DB', database_name: 'reading-library', database_id: 'id-1' }],
  kv_namespaces: [{ binding: 'CATALOGUE', id: 'mine' }],
  ratelimits: [{ namespace_id: '1001' }],
}

const deployStaging = (table: Row[] = []) => {
  const { config, reader } = toEnvironment(PRODUCTION, READER, 'staging')
  const slots = parseSlots(table, 'reading-library-staging')
  const account = { ...deployedAccount(), occupied: [] }
  return workOn(account, (host) => deploy(withConfig(host, config), config, reader, slots), {}, table)
}

it('an environment has its own resources, and shares only settings', async () => {
  const { deployed, files, changes } = await deployStaging()
  expect(deployed).toEqual({
    name: 'reading-library-staging',
    account_id: 'a',
    vars: { CORS_ORIGINS: 'https://app.example' },
    d1_databases: [{ binding: 'DB', database_name: 'reading-library-staging' }],
    r2_buckets: [{ binding: 'IMAGES', bucket_name: 'reading-library-images-staging' }],
    kv_namespaces: [{ binding: 'CATALOGUE', id: NAMESPACE_ID }],
    services: [{ binding: 'READER', service: 'reading-library-reader-staging' }],
    ratelimits: [{ namespace_id: expect.stringMatching(/^(?!1001$)\d+$/) }],
  })
  expect(JSON.parse(files['wrangler.deploy.reader.json'] ?? '')).toMatchObject({
    name: 'reading-library-reader-staging',
  })
  expect(changes.filter((command) => command.includes('create'))).toEqual([
    'd1 create reading-library-staging',
    'r2 bucket create reading-library-images-staging',
    'kv namespace create reading-library-staging-catalogue',
  ])
})

it.each([
  ['one database', []],
  ['several databases', [{ slot: 1 }]],
])('no command for an environment with %s reads wrangler.toml, or the name of a build', async (_, table) => {
  const { commands, unsets } = await deployStaging(table)
  const accountWide = /^(whoami|d1 list|d1 create|r2|kv) ?/
  expect(commands.filter((each) => !accountWide.test(each) && !each.includes('--config wrangler.deploy.'))).toEqual([])
  expect(Object.keys(unsets)).toEqual(commands.filter((each, at) => commands.indexOf(each) === at))
  expect(commands.join()).not.toContain(MAIL_FROM)
})

it.each(['production', 'Staging', 'stag-ing', '', '../x'])('the environment %j is refused', (name) => {
  expect(() => toEnvironment(PRODUCTION, READER, name)).toThrow('--env must be a name like staging')
})

it("refuses a copy of production's table, which would migrate production", () => {
  const parse = (name: string) => parseSlots([{ slot: 1, name: 'reading-library-slot-1' }], name)
  expect(() =>
    requireOwnDatabases(parse('reading-library-staging'), parse('reading-library'), 'slots.staging.json'),
  ).toThrow('slots.staging.json: slot 1: reading-library-slot-1 is a database of production: remove the name')
})
