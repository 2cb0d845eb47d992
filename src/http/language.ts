import type { Context } from 'hono'
import { accepts } from 'hono/accepts'

const LANGUAGES = ['ko', 'en'] as const
export type Language = (typeof LANGUAGES)[number]

/**
 * The language of mails to the client's user: Korean if `Accept-Language` prefers it to English, otherwise English.
 * Regions, as in `ko-KR`, do not matter.
 */
export const languageOf = (c: Context) =>
  accepts(c, {
    header: 'Accept-Language',
    supports: [...LANGUAGES],
    default: 'en',
    // The ranges are sorted by quality. `defaultMatch` would compare whole ranges, and ignore `*`.
    match: (ranges, config) => {
      const rankOf = (language: string) => {
        const named = ranges.findIndex(({ type }) => type.split('-', 1)[0]?.toLowerCase() === language)
        return named < 0 ? ranges.findIndex(({ type }) => type === '*') : named
      }
      const [korean, english] = LANGUAGES.map(rankOf) as [number, number]
      const isPreferred = Boolean(ranges[korean]?.q) && (english < 0 || korean < english)
      return isPreferred ? 'ko' : config.default
    },
  }) as Language
