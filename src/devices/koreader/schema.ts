import * as z from 'zod/mini'
import { nonEmptyText, numberBetween } from '../../values/fields'
import { DocumentId } from '../documents/schema'

const Name = z.nullish(z.string())

export const PushedPosition = z.lazy(() =>
  z.object({
    document: DocumentId,
    // Longer ones are refused rather than cut: a device could not find them. Some clients send a page number.
    progress: z.pipe(z.pipe(z.union([z.string(), z.number()]), z.transform(String)), nonEmptyText(1000)),
    percentage: numberBetween(0, 1, 'must be a number between 0 and 1'),
    device: Name,
    device_id: Name,
    metadata: z.nullish(z.object({ title: Name, authors: Name, filename: Name })),
  }),
)
export type PushedPosition = z.infer<typeof PushedPosition>

export const DocumentPath = z.lazy(() => z.object({ document: DocumentId }))
