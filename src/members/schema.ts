import * as z from 'zod'
import { filledText, LocalTime } from '../http/values'

const required = { error: 'is required' }

// The pattern of zod takes ASCII only, which lower() in the database relies on.
const Email = z
  .email({ error: (issue) => (issue.input === undefined ? 'is required' : 'must be an e-mail address') })
  .max(254, { error: 'must be at most 254 characters' })
const Name = filledText(100)
const Password = z
  .string({ error: (issue) => (issue.input === undefined ? 'is required' : 'must be a string') })
  .regex(/^[!-~]*$/, { error: 'must consist of letters, digits and special characters' })
  .min(6, { error: 'must be at least 6 characters' })
  .max(128, { error: 'must be at most 128 characters' })

export const NewMember = z
  .object({
    email: Email,
    name: Name,
    password: Password,
    authenticationCode: z.string(required).refine((code) => code.trim() !== '', { error: 'must not be blank' }),
  })
  .meta({ id: 'NewMember' })
export type NewMember = z.infer<typeof NewMember>

export const CodeRequest = z.object({ joinAuthCodeEmail: Email }).meta({ id: 'CodeRequest' })

export const Credentials = z
  .object({ email: Email, password: z.string(required).min(1, required) })
  .meta({ id: 'Credentials' })

export const Profile = z.object({ email: z.string(), name: z.string() }).meta({ id: 'Profile' })
export type Profile = z.infer<typeof Profile>

export const ProfilePatch = z
  .object({ name: Name.optional(), password: Password.optional() })
  .meta({ id: 'ProfilePatch' })

export const UpdatedProfile = Profile.extend({ updatedAt: LocalTime }).meta({ id: 'UpdatedProfile' })
export type UpdatedProfile = z.infer<typeof UpdatedProfile>
