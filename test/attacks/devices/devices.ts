// Devices, over sockets: random histories, the requests of apps, and what nobody may do with them.
import { type Attack, mergeReports } from '../harness/attack'
import { compareHistories } from './histories'
import { sendRecordings } from './recordings'
import { refuseIntruders } from './refusals'

export const devices: Attack = async (context) =>
  mergeReports(await sendRecordings(context), await refuseIntruders(context), await compareHistories(context))
