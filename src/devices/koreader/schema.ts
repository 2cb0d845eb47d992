import * as z from 'zod/mini'
import { DocumentId } from '../documents/schema'

const text = z.string({ error: 'must be a string' })
/** Longer positions are refused rather than cut: a device could not find them. */
const MAX_PROGRESS = 1000
const Progress = text.check(
  z.maxLength(MAX_PROGRESS, { error: `must be at most ${MAX_PROGRESS} characters` }),
  z.refine((value) => value.isWellFormed() && !value.includes('\0'), { error: 'must not contain a NUL character' }),
)
const percentageError = 'must be a number between 0 and 1'
const Name = z.nullish(text)

export const PushedPosition = z.lazy(() =>
  z.object({
    document: DocumentId,
    // Some clients send a page number.
    progress: z.pipe(z.union([text, z.number()]), z.pipe(z.transform(String), Progress)),
    percentage: z
      .number({ error: percentageError })
      .check(z.minimum(0, { error: percentageError }), z.maximum(1, { error: percentageError })),
    device: Name,
    device_id: Name,
    metadata: z.nullish(z.object({ title: Name, authors: Name, filename: Name })),
  }),
)
export type PushedPosition = z.infer<typeof PushedPosition>

export const DocumentPath = z.lazy(() => z.object({ document: DocumentId }))
