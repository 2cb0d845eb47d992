import { equal, match, ok } from 'node:assert/strict'
import { type Answer, answers, error, violationErrors, words } from './answer.ts'
import { check, each } from './check.ts'
import type { Service } from './client.ts'

const wordsOrNull = (value: unknown) => value === null || words(value)
const entry = {
  title: words,
  author: wordsOrNull,
  cover: (value: unknown) => value === null || /^https:\/\//.test(String(value)),
  publisher: wordsOrNull,
  itemPage: (value: unknown) => value === null || (Number.isInteger(value) && Number(value) > 0),
}

/** Whether it lists entries of the catalogue, ten at most. */
const listsEntries = (answer: Answer) => {
  answers(answer, 200)
  const entries = answer.body as unknown[]
  ok(Array.isArray(entries) && entries.length <= 10, `${answer.request}: no list of ten at most`)
  answers({ ...answer, body: entries }, 200, Array(entries.length).fill(entry))
  match(answer.headers.get('Cache-Control') ?? '', /^public, max-age=\d+$/)
}

/** The book catalogue, which needs no member. A provider that is down fails these checks. */
export const checkCatalogue = async ({ send }: Service) => {
  for (const path of ['/ext-lib/best-seller', '/ext-lib/item-new-special', `/ext-lib/${encodeURIComponent('한강')}`]) {
    await check(`GET ${decodeURIComponent(path)}: entries, ten at most, cached for a while`, async () =>
      listsEntries(await send('GET', path)),
    )
  }

  await check('GET /ext-lib/…: a token is ignored, good or bad', async () =>
    listsEntries(await send('GET', '/ext-lib/best-seller', undefined, { Authorization: 'Bearer nonsense' })),
  )

  await check('GET /ext-lib/{title-or-author}: nothing found is an empty array', async () =>
    answers(await send('GET', '/ext-lib/zzqxjwv-nobody-wrote-this'), 200, []),
  )

  await check('GET /ext-lib/{title-or-author}: 1 to 100 characters after trimming', () =>
    each(['%20', 'x'.repeat(101)], async (query) => {
      const sent = decodeURIComponent(query)
      answers(await send('GET', `/ext-lib/${query}`), 400, violationErrors(['title-or-author', sent]))
    }),
  )

  await check('POST /ext-lib/best-seller: 405 with Allow', async () => {
    const answer = await send('POST', '/ext-lib/best-seller')
    answers(answer, 405, error(405))
    equal(answer.headers.get('Allow'), 'GET, HEAD')
  })
}
