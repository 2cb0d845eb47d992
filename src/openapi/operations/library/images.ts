import { Image } from '../../../library/images/responses'
import { ImagePath } from '../../../library/images/schema'
import { IMAGE_TYPES } from '../../../values/contract'
import { pageOf } from '../../../values/responses'
import { empty, json, type Operations } from '../operation'

const HEADERS = ['ETag', 'Last-Modified', 'Accept-Ranges', 'Cache-Control'] as const
const CONTENT = Object.fromEntries(IMAGE_TYPES.map((type) => [type, 'binary'] as const))

export const imagesOperations: Operations = {
  'GET /images': {
    operationId: 'listImages',
    summary: 'List your images',
    description: 'Newest first. The sum of `bytes` counts towards the limit on images.',
    responses: { 200: json(pageOf(Image), 'A page of images', 'Link') },
  },
  'GET /images/{member-id}/{name}': {
    operationId: 'loadImage',
    summary: 'Load an image',
    description: 'Needs no token, so that browsers can load it with `<img>`. Supports conditional and range requests.',
    requestHeaders: ['Range', 'If-Range', 'If-Match', 'If-None-Match', 'If-Modified-Since', 'If-Unmodified-Since'],
    responses: {
      200: { description: 'The image', content: CONTENT, headers: [...HEADERS] },
      206: { description: 'The requested range', content: CONTENT, headers: [...HEADERS, 'Content-Range'] },
      304: empty('Not modified', ...HEADERS),
    },
    path: ImagePath,
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
}
