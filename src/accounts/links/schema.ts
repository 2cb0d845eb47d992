import * as z from 'zod/mini'
import { BookStatus } from '../../library/books/schema'
import { MAX_YEAR, MIN_YEAR } from '../../library/stats/schema'
import { TagName } from '../../library/tags/schema'
import { LINK_KINDS, MAX_LABEL } from '../../values/contract'
import { filledText, int, nameOf, nameOrCode } from '../../values/fields'
import { named, namedLazy } from '../../values/named'

/** The most links of a member. */
export const MAX_LINKS = 50

export const LinkKind = named('LinkKind', nameOf(LINK_KINDS))

const ShowName = z.boolean({ error: 'must be true or false' })

type Filter = 'bookStatus' | 'tag' | 'year'
const onlyFor = (kind: z.infer<typeof LinkKind>, field: Filter) =>
  z.refine<{ kind: string } & Partial<Record<Filter, unknown>>>((link) => link.kind === kind || link[field] == null, {
    path: [field],
    error: `must be absent unless kind is ${kind}`,
  })

export const NewLink = namedLazy('NewLink', () =>
  z
    .object({
      name: filledText(MAX_LABEL),
      kind: LinkKind,
      bookStatus: z.nullish(nameOrCode(BookStatus)),
      tag: z.nullish(TagName),
      year: z.nullish(int(MIN_YEAR, MAX_YEAR)),
      showName: z._default(ShowName, false),
    })
    .check(
      onlyFor('SHELF', 'bookStatus'),
      onlyFor('SHELF', 'tag'),
      onlyFor('YEAR', 'year'),
      z.refine(({ kind, year }) => kind !== 'YEAR' || year != null, { path: ['year'], error: 'is required' }),
    ),
)
export type NewLink = z.infer<typeof NewLink>

export const LinkPatch = namedLazy('LinkPatch', () =>
  z.object({ name: z.optional(filledText(MAX_LABEL)), showName: z.optional(ShowName) }),
)
export type LinkPatch = z.infer<typeof LinkPatch>

export const LinkPath = z.lazy(() => z.object({ 'link-id': z.uuid({ error: 'must be a UUID' }) }))
