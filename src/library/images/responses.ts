import * as z from 'zod/mini'
import { empty, type FeatureReference, json } from '../../http/description/feature-reference'
import { IMAGE_TYPES } from '../../values/contract'
import { named } from '../../values/named'
import { Id, LocalTime, pageOf, textUpTo } from '../../values/responses'
import { ImagePath } from './schema'

/** A row of the images table. */
export const StoredImage = z.object({
  memberId: Id,
  name: textUpTo(27),
  type: z.enum(IMAGE_TYPES),
  bytes: z.int().check(z.minimum(1)),
  createdAt: LocalTime,
})
export type StoredImage = z.infer<typeof StoredImage>

export const Image = named('Image', z.extend(StoredImage, { url: z.url().check(z.maxLength(4096)) }))

const HEADERS = ['ETag', 'Last-Modified', 'Accept-Ranges', 'Cache-Control'] as const
const CONTENT = Object.fromEntries(IMAGE_TYPES.map((type) => [type, 'binary'] as const))

export const imagesReference: FeatureReference = {
  tag: 'Images',
  schemas: { Image: 'An uploaded image.', ImagePage: 'A page of images.' },
  properties: {
    bytes: 'Size of the stored file. It differs from the size of the upload, because metadata is removed.',
    memberId: 'Identifier of the member who uploaded the image.',
    name: 'File name of the image, the last part of its URL.',
    type: 'Media type, detected from the content.',
    url: 'URL of the image. Needs no token.',
  },
  parameters: {
    'member-id': 'The member who uploaded the image.',
    name: 'File name of the image, the last part of its URL.',
  },
  operations: {
    'GET /images': {
      operationId: 'listImages',
      summary: 'List your images',
      description: 'Newest first. The sum of `bytes` counts towards the limit on images.',
      responses: { 200: json(pageOf(Image), 'A page of images') },
    },
    'GET /images/{member-id}/{name}': {
      operationId: 'loadImage',
      summary: 'Load an image',
      description:
        'Needs no token, so that browsers can load it with `<img>`. Supports conditional and range requests.',
      requestHeaders: ['Range', 'If-Range', 'If-Match', 'If-None-Match', 'If-Modified-Since', 'If-Unmodified-Since'],
      responses: {
        200: { description: 'The image', content: CONTENT, headers: [...HEADERS] },
        206: { description: 'The requested range', content: CONTENT, headers: [...HEADERS, 'Content-Range'] },
        304: empty('Not modified', ...HEADERS),
      },
      pathParameters: ImagePath,
      errors: ['IMAGE_NOT_FOUND', 'PRECONDITION_FAILED', 'RANGE_NOT_SATISFIABLE', 'UNAVAILABLE'],
    },
    'DELETE /images/{member-id}/{name}': {
      operationId: 'deleteImage',
      summary: 'Delete an image',
      description:
        'Memos that show the image are not changed. Data centres that cached it may serve it for ten more minutes, and ' +
        'clients that loaded it may keep it for a year.',
      responses: { 204: empty('Deleted') },
      errors: ['IMAGE_NOT_FOUND'],
    },
  },
}
