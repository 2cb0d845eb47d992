// What links show of random states of two members, in two slots, must equal a plain model in every form.
import { createLinkSecret } from '../../../src/auth/access-token'
import type { LinkKind } from '../../../src/values/contract'
import { insertMemberAt } from '../../support/home'
import { compareStates, type Send } from '../../support/links/states'
import { type Attack, concurrently } from '../harness/attack'
import { insertMember, newEmail } from '../harness/members'
import { JWT_SECRET, type Service } from '../harness/service'

const LANES = 4
const STATES = 8

const toSend =
  (service: Service): Send =>
  async (method, path, { token, body } = {}) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const { status, headers, bytes } = await service.request({ method, path, ...(token && { token }), ...sent })
    const text = bytes.toString()
    const secret = path === '/links' && text.match(/\/l\/(\w+)/)?.[1]
    if (secret) service.secrets.add(secret)
    return { status, headers, text }
  }

export const links: Attack = async ({ quick, seed, progress, start }) => {
  const service = await start({ slots: 2, writesPerMinute: 1e9, uploadsPerMinute: 1e9 })
  const [sequences, states] = quick ? [4, 3] : [625, STATES]
  const failures: string[] = []
  const compared = { sequences: 0, forms: 0, ended: 0 }
  const { directory, addressKey } = service
  const home = { slot: 0, database: directory, directory, addressKey }
  await concurrently(LANES, async (lane) => {
    for (let n = lane; n < sequences; n += LANES) {
      const [one, other] = [await insertMember(service), await insertMemberAt(home, JWT_SECRET, newEmail())]
      const never = (kind: LinkKind) => `/l/${createLinkSecret({ slot: n % 2, kind, variant: 0 })}`
      try {
        const { forms, ended } = await compareStates(
          toSend(service),
          [one.token, other.token],
          seed * 1000 + n,
          states,
          never,
        )
        compared.forms += forms
        compared.ended += ended
      } catch (error) {
        failures.push(`sequence ${seed * 1000 + n}: ${error}`)
      }
      if (++compared.sequences % (quick ? 4 : 25) === 0)
        progress(`${compared.sequences * states} of ${sequences * states} states, ${failures.length} differ`)
    }
  })
  return {
    figures: [
      ['random states of two members with links', sequences * states, `${failures.length} differ from a model`],
      ['forms of links, compared with the model', compared.forms, 'nothing else shown'],
      ['requests for links that had ended', compared.ended, 'as for one that never existed'],
    ],
    failures,
  }
}
