// @module-tag one-slot
import { expect, it } from 'vitest'
import { createClient } from '../../../docs/offline-client'
import { changeUnanswered } from '../../support/sync/actions'
import { createDevice } from '../../support/sync/devices'
import type { Network } from '../../support/sync/network'

it('goes on when the app of a device was killed before the user edits what another client changed', async () => {
  const sent: string[] = []
  const network = {
    history: { problems: [] },
    call: async (method: string, path: string) => sent.push(`${method} ${path}`),
  } as unknown as Network
  const device = createDevice(network, 'device', { size: 1, now: () => 0, createClient })
  device.app.kill()
  await changeUnanswered(device, network, () => 1, 1, { memoId: 7, key: 'key' })
  expect(sent).toEqual(['PATCH /memos/7'])
})
