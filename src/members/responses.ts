import * as z from 'zod'
import { LocalTime } from '../schema/responses'
import { MAX_NAME } from './schema'

export const Profile = z.object({ email: z.string().max(254), name: z.string().max(MAX_NAME) }).meta({ id: 'Profile' })
export type Profile = z.infer<typeof Profile>

export const UpdatedProfile = Profile.extend({ updatedAt: LocalTime }).meta({ id: 'UpdatedProfile' })
export type UpdatedProfile = z.infer<typeof UpdatedProfile>
