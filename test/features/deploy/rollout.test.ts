import { describe, expect, it } from 'vitest'
import { deploy } from '../../../scripts/deploy/deploy.ts'
import { promote, rollBack } from '../../../scripts/deploy/rollout.ts'
import { parseSlots } from '../../../scripts/slots/table.ts'
import {
  type Account,
  CONFIG,
  deployedAccount,
  emptyAccount,
  healthOf,
  READER,
  UPLOAD_READER,
  WORKER_URL,
  workOn,
} from '../../support/deploy/fake-account'

const rollOut = (account: Account, percentage = 10, overrides = {}) => {
  const slots = parseSlots([], 'reading-library')
  return workOn(account, (host) => deploy(host, CONFIG, READER, slots, percentage), overrides)
}
const oneVersion = (): Account => ({ ...deployedAccount(), versions: ['old'], shares: { old: 100 } })
const twoVersions = (): Account => ({ ...deployedAccount(), versions: ['old', 'new'], shares: { new: 10, old: 90 } })
const MIGRATE = 'd1 migrations apply DB --remote'
const UPLOAD = 'versions upload --config wrangler.deploy.json'

describe('a gradual deployment', () => {
  it('gives the new version its share once it is healthy without one', async () => {
    const account = oneVersion()
    const { changes, errors } = await rollOut(account)
    const deployments = ['versions deploy new@0% old@100% --yes', 'versions deploy new@10% old@90% --yes']
    expect(changes).toEqual([MIGRATE, UPLOAD_READER, UPLOAD, deployments[0], 'triggers deploy', deployments[1]])
    expect([errors, account.shares]).toEqual([undefined, { new: 10, old: 90 }])
  })

  it('asks the new version for its health', async () => {
    const account = oneVersion()
    const asked: object[] = []
    const fetch = (url: string, headers = {}) => {
      asked.push({ url, headers })
      return healthOf(account)(url, headers)
    }
    await rollOut(account, 10, { fetch })
    const headers = { 'Cloudflare-Workers-Version-Overrides': 'reading-library="new"' }
    expect(asked).toEqual([{ url: `${WORKER_URL}/health`, headers }])
  })

  it('gives a version that is not healthy nothing', async () => {
    const account = oneVersion()
    const { errors } = await rollOut(account, 10, { fetch: healthOf(account, ['new']) })
    expect(account.shares).toEqual({ old: 100 })
    expect(errors).toEqual([
      `Version new does not answer 200 at ${WORKER_URL}/health: version old has all requests again`,
    ])
  })

  it('does not take the answer of another version for that of the new one', async () => {
    const account = oneVersion()
    const { errors } = await rollOut(account, 10, { fetch: async () => Response.json({ version: 'old' }) })
    expect([account.shares, errors]).toEqual([{ old: 100 }, [expect.stringMatching(/^Version new does not answer/)]])
  })

  it.each([
    ['during another one', twoVersions(), /^A gradual deployment is under way/],
    ['as the first deployment', emptyAccount(), /^wrangler deployments status: the Worker does not exist yet$/],
    [
      'to a Worker without PUBLIC_URL',
      { ...oneVersion(), secrets: ['JWT_SECRET', 'MAIL_FROM'] },
      /^PUBLIC_URL is missing/,
    ],
  ])('changes nothing %s', async (_, account, problem) => {
    const { errors, changes } = await rollOut(account)
    expect([errors, changes]).toEqual([[expect.stringMatching(problem)], []])
  })
})

describe('the end of a gradual deployment', () => {
  it.each([
    [100, { new: 100 }],
    [50, { new: 50, old: 50 }],
  ])('gives the new version %i %% of the requests', async (percentage, shares) => {
    const account = twoVersions()
    await workOn(account, (host) => promote(host, CONFIG, percentage))
    expect(account.shares).toEqual(shares)
  })

  it('gives the version before all requests if the new one has become unhealthy', async () => {
    const account = twoVersions()
    const { errors } = await workOn(account, (host) => promote(host, CONFIG), { fetch: healthOf(account, ['new']) })
    expect([account.shares, errors]).toEqual([{ old: 100 }, [expect.stringMatching(/^Version new does not answer/)]])
  })

  it('gives the version before all requests, also if it has the smaller share', async () => {
    const account = { ...twoVersions(), shares: { new: 90, old: 10 } }
    const { output } = await workOn(account, rollBack)
    expect([account.shares, output]).toEqual([{ old: 100 }, ['Version old: has all requests']])
  })

  it.each([
    ['promoted', promote],
    ['rolled back', rollBack],
  ])('cannot be %s if there is none', async (_, end) => {
    const { errors, changes } = await workOn(oneVersion(), (host) => end(host, CONFIG))
    expect([errors, changes]).toEqual([[expect.stringMatching(/^No gradual deployment is under way/)], []])
  })
})
