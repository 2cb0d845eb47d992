import { sql } from 'drizzle-orm'
import { type Caller, callerId, runAsCaller } from '../../db/caller'
import { type Db, sqlStatement } from '../../db/client'
import type { LoadPart } from '../../db/parts'
import { toKey } from '../../library/images/bucket'
import type { StoredImage } from '../../library/images/responses'
import type { ExportedImage } from './responses'

const IMAGES_PER_PAGE = 1000

const { placeholder } = sql

const selectImages = sqlStatement<StoredImage & { imageId: number }>`
  select imageId, memberId, name, type, bytes, createdAt from images
  where memberId = ${callerId} and imageId > ${placeholder('after')}
  order by imageId limit ${sql.raw(String(IMAGES_PER_PAGE))}`

/** Loads the caller's images in pages, oldest first. */
export async function* loadImages(db: Db, caller: Caller, load: LoadPart, imageBase: string) {
  for (let after = 0, isLast = false; !isLast; ) {
    const { page } = await load(() => runAsCaller(db, caller, { page: selectImages({ after }) }))
    yield page.map(({ memberId, name, type, bytes, createdAt }): ExportedImage => {
      return { name, url: `${imageBase}/${toKey(memberId, name)}`, type, bytes, createdAt }
    })
    after = page.at(-1)?.imageId ?? after
    isLast = page.length < IMAGES_PER_PAGE
  }
}
