import * as z from 'zod/mini'
import { LocalTime } from '../../values/responses'
import { MAX_NAME } from './schema'

export const Profile = z
  .object({ email: z.string().check(z.maxLength(254)), name: z.string().check(z.maxLength(MAX_NAME)) })
  .register(z.globalRegistry, { id: 'Profile' })
export type Profile = z.infer<typeof Profile>

export const UpdatedProfile = z
  .extend(Profile, { updatedAt: LocalTime })
  .register(z.globalRegistry, { id: 'UpdatedProfile' })
export type UpdatedProfile = z.infer<typeof UpdatedProfile>
