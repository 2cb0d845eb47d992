import { beforeAll, describe, expect, it, vi } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { type Answer, type Reader, signUp } from '../../support/api'
import { fillShelf, fillTags, measure, memberDatabase, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'

const put = (reader: Reader, bookId: number, tags: unknown) =>
  reader.send('PUT', `/books/${bookId}/tags`, { body: { tags } })
const change = (reader: Reader, bookId: number, body: object) => reader.patch(`/books/${bookId}/tags`, body)
const tagsOf = async (reader: Reader, bookId: number) => (await reader.get(`/books/${bookId}/tags`)).body.tags
const allTags = async (reader: Reader) => (await reader.get('/tags')).body
const tagged = (reader: Reader, tag: string, page = 1, size = 20) =>
  reader.get(`/books/tagged?tag=${encodeURIComponent(tag)}&page=${page}&size=${size}`)
const idsOf = ({ body }: Answer) => body.item.map(({ bookId }: { bookId: number }) => bookId)
const rename = (reader: Reader, from: string, to: string) => reader.patch('/tags', { from, to })
const remove = (reader: Reader, tag: string) => reader.delete(`/tags?tag=${encodeURIComponent(tag)}`)

/** A member with books that have these tags. */
const createShelf = async (...tags: string[][]) => {
  const reader = await signUp()
  const bookIds: number[] = []
  for (const each of tags) {
    const { bookId } = await reader.createBook()
    bookIds.push(bookId)
    expect((await put(reader, bookId, each)).status).toBe(200)
  }
  return { reader, bookIds, bookId: bookIds[0] ?? 0 }
}

describe('the tags of a book', () => {
  it('are replaced, and listed by key', async () => {
    const { reader, bookId } = await createShelf([])
    expect(await tagsOf(reader, bookId)).toEqual([])
    const answer = await put(reader, bookId, ['Wish list', '소설', 'essay', 'Ünsal', '青空'])
    expect(answer).toMatchObject({ status: 200, body: { tags: ['essay', 'Ünsal', 'Wish list', '青空', '소설'] } })
    expect((await put(reader, bookId, ['ESSAY', 'New'])).body).toEqual({ tags: ['essay', 'New'] })
    expect(await tagsOf(reader, bookId)).toEqual(['essay', 'New'])
    expect((await put(reader, bookId, [])).body).toEqual({ tags: [] })
    expect(await allTags(reader)).toEqual([])
  })

  it('keep the spelling that was used first, in the same request or on other books', async () => {
    const { reader, bookIds } = await createShelf(['ÉTÉ', 'Été', 'Straße', '한강'], [])
    // Decomposed, as macOS sends it.
    const answer = await put(reader, bookIds[1] ?? 0, [
      'été'.normalize('NFD'),
      'ete',
      'STRASSE',
      ' 한강 '.normalize('NFD'),
    ])
    expect(answer.body).toEqual({ tags: ['ÉTÉ', 'Straße', '한강'] })
    expect(await allTags(reader)).toEqual(['ÉTÉ', 'Straße', '한강'].map((tag) => ({ tag, bookCount: 2 })))
  })

  it('are trimmed and stored in NFC, and otherwise as sent', async () => {
    const { reader, bookId } = await createShelf([])
    const sent = ['\u3000Two  words\n', 'e\u0301clair', `'; drop table tags; --`, '%', '👩‍👩‍👧']
    expect((await put(reader, bookId, sent)).body.tags.sort()).toEqual(
      ['Two  words', 'éclair', `'; drop table tags; --`, '%', '👩‍👩‍👧'].sort(),
    )
  })

  it('are refused before a long text is normalized, which would take minutes', async () => {
    const { reader, bookId } = await createShelf([])
    using normalize = vi.spyOn(String.prototype, 'normalize')
    const answer = await put(reader, bookId, ['\u0301\u0316'.repeat(5000)])
    const lengths = normalize.mock.contexts.map((text) => `${text}`.length)
    expect(Math.max(0, ...lengths)).toBeLessThan(1000)
    expect(answer).toMatchObject({ status: 400, body: { fieldErrors: [{ reason: 'must be at most 100 characters' }] } })
  })

  it('may have four times as many characters in NFD', async () => {
    const { reader, bookId } = await createShelf([])
    const tag = '\u1f87'.repeat(100)
    expect((await put(reader, bookId, [tag.normalize('NFD')])).body).toEqual({ tags: [tag] })
  })

  it.each<[string, unknown, string, string]>([
    ['an absent list', undefined, 'tags', 'is required'],
    ['null', null, 'tags', 'must be an array of strings'],
    ['a single tag', 'Essay', 'tags', 'must be an array of strings'],
    ['a number', ['Essay', 1], 'tags.1', 'must be a string'],
    ['a blank tag', [' \t'], 'tags.0', 'must not be blank'],
    ['a NUL', ['a\0'], 'tags.0', 'must not contain a NUL character'],
    ['an unpaired surrogate', ['\ud800'], 'tags.0', 'must not contain an unpaired surrogate'],
    ['101 characters', ['한'.repeat(101)], 'tags.0', 'must be at most 100 characters'],
    // Three characters in NFC.
    ['101 characters in NFC', ['\u{1D160}'.repeat(34)], 'tags.0', 'must be at most 100 characters'],
    ['31 tags', Array.from({ length: 31 }, (_, n) => `Tag ${n}`), 'tags', 'must have at most 30 tags'],
  ])('are not %s', async (_, tags, field, reason) => {
    const { reader, bookId } = await createShelf(['Kept'])
    const error = { status: 400, body: { fieldErrors: [{ field, reason }] } }
    expect(await put(reader, bookId, tags)).toMatchObject(error)
    expect(await tagsOf(reader, bookId)).toEqual(['Kept'])
  })

  it('may have 100 characters each, not counting spaces around them, and be 30', async () => {
    const { reader, bookId } = await createShelf([])
    const tags = Array.from({ length: 30 }, (_, n) => `${'😀'.repeat(98)}${n + 10}`)
    const answer = await put(
      reader,
      bookId,
      tags.map((tag) => `  ${tag}  `),
    )
    expect(answer).toMatchObject({ status: 200, body: { tags } })
  })

  it('disappear with the book', async () => {
    const { reader, bookIds } = await createShelf(['A', 'B'], ['B'])
    await reader.delete(`/books/${bookIds[0]}`)
    expect(await allTags(reader)).toEqual([{ tag: 'B', bookCount: 1 }])
  })
})

describe('PATCH /books/{book-id}/tags', () => {
  it('adds and removes tags, regardless of case, and leaves others', async () => {
    const { reader, bookId } = await createShelf(['Sea', 'Lamp'])
    const body = { add: [' salt ', 'SEA'], remove: ['lamp', 'None'] }
    for (let times = 0; times < 2; times++) {
      expect(await change(reader, bookId, body)).toMatchObject({ status: 200, body: { tags: ['salt', 'Sea'] } })
    }
    expect(await allTags(reader)).toEqual(['salt', 'Sea'].map((tag) => ({ tag, bookCount: 1 })))
    expect((await change(reader, bookId, {})).body).toEqual({ tags: ['salt', 'Sea'] })
    expect((await change(reader, bookId, { remove: ['salt', 'sea'] })).body).toEqual({ tags: [] })
    expect(await allTags(reader)).toEqual([])
    expect(await findMismatches(memberDatabase())).toEqual([])
  })

  it('adds a tag that it also removes, and keeps the spelling of other books', async () => {
    const { reader, bookId } = await createShelf(['Lamp'], ['Straße'])
    const body = { add: ['LAMP', 'STRASSE'], remove: ['Lamp', 'straße'] }
    expect((await change(reader, bookId, body)).body).toEqual({ tags: ['Lamp', 'Straße'] })
  })

  it('loses no tag of concurrent changes', async () => {
    const { reader, bookId } = await createShelf(['Old'])
    const tags = Array.from({ length: 8 }, (_, n) => `Tag ${n}`)
    const answers = await Promise.all(tags.map((tag) => change(reader, bookId, { add: [tag], remove: ['Old'] })))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(await tagsOf(reader, bookId)).toEqual(tags)
  })

  it('lets a book have 30 tags, and writes nothing beyond', async () => {
    const tags = Array.from({ length: 29 }, (_, n) => `Tag ${n + 10}`)
    const { reader, bookId } = await createShelf(tags)
    const refused = await change(reader, bookId, { add: ['A', 'B'], remove: ['None'] })
    expect(refused).toMatchObject({ status: 409, body: { message: 'Limit reached: 30 tags per book' } })
    expect(refused.headers.get('X-Error-Code')).toBe('MAX_BOOK_TAGS')
    expect(await tagsOf(reader, bookId)).toEqual(tags)
    expect(await allTags(reader)).toHaveLength(29)
    expect((await change(reader, bookId, { add: ['A', 'B', 'tag 38'], remove: ['Tag 10'] })).body.tags).toHaveLength(30)
    expect((await change(reader, bookId, { add: ['C'], remove: ['D'] })).status).toBe(409)
    // Tags of another book count no less.
    expect((await put(reader, (await reader.createBook()).bookId, ['C'])).status).toBe(200)
    expect((await change(reader, bookId, { add: ['C'], remove: ['None'] })).status).toBe(409)
    expect((await change(reader, bookId, { add: ['C'], remove: ['A', 'C'] })).body.tags).toHaveLength(30)
    expect((await change(reader, bookId, { add: ['A'], remove: ['B', 'C', 'Tag 11'] })).body.tags).toHaveLength(28)
  })

  it.each<[object, string, string]>([
    [{ add: 'Essay' }, 'add', 'must be an array of strings'],
    [{ remove: null }, 'remove', 'must be an array of strings'],
    [{ add: [' '] }, 'add.0', 'must not be blank'],
    [{ remove: ['한'.repeat(101)] }, 'remove.0', 'must be at most 100 characters'],
    [{ remove: Array.from({ length: 31 }, (_, n) => `Tag ${n}`) }, 'remove', 'must have at most 30 tags'],
  ])('refuses %j', async (body, field, reason) => {
    const { reader, bookId } = await createShelf(['Kept'])
    expect(await change(reader, bookId, body)).toMatchObject({
      status: 400,
      body: { fieldErrors: [{ field, reason }] },
    })
    expect(await tagsOf(reader, bookId)).toEqual(['Kept'])
  })
})

describe('2,000 tags', () => {
  let reader: Reader
  let bookId: number
  beforeAll(async () => {
    reader = await signUp()
    bookId = (await reader.createBook()).bookId
    await put(reader, bookId, ['Only here', 'Here too'])
    await fillTags(await memberIdOf(reader), (await reader.createBook()).bookId, 1998, 3)
  })

  it('are listed at once', async () => {
    expect(await allTags(reader)).toHaveLength(2000)
  })

  it('reject another one, and write nothing', async () => {
    const answer = await put(reader, bookId, ['Tag 7', 'Here too', 'Only here', 'New'])
    expect(answer).toMatchObject({ status: 409, body: { message: 'Limit reached: 2,000 tags per member' } })
    expect(answer.headers.get('X-Error-Code')).toBe('MAX_TAGS')
    expect(await tagsOf(reader, bookId)).toEqual(['Here too', 'Only here'])
    expect((await put(reader, bookId, ['New', 'Other'].concat('Here too'))).status).toBe(409)
  })

  it('reject one that is added, too, but not one that takes the place of another', async () => {
    const refused = await change(reader, bookId, { add: ['New', 'Tag 7'], remove: ['Tag 8'] })
    expect(refused.headers.get('X-Error-Code')).toBe('MAX_TAGS')
    expect(await tagsOf(reader, bookId)).toEqual(['Here too', 'Only here'])
    expect((await change(reader, bookId, { add: ['New'], remove: ['only here'] })).body.tags).toEqual([
      'Here too',
      'New',
    ])
    expect((await change(reader, bookId, { add: ['Only here'], remove: ['NEW'] })).status).toBe(200)
  })

  it('can be replaced by others, and added to other books', async () => {
    expect((await put(reader, bookId, ['New', 'Here too', 'Tag 7'])).body.tags).toEqual(['Here too', 'New', 'Tag 7'])
    expect((await put(reader, bookId, ['Newer', 'Newest'])).body.tags).toEqual(['Newer', 'Newest'])
    expect(await allTags(reader)).toHaveLength(2000)
  })

  it('are not exceeded by concurrent writes', async () => {
    const free = (await reader.createBook()).bookId
    await put(reader, bookId, ['Newer'])
    const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => put(reader, free, [`Raced ${n}`, 'Newer'])))
    // Each replaces the tag of the one before.
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    const others = await Promise.all([1, 2, 3].map(() => reader.createBook()))
    const raced = await Promise.all(others.map((book, n) => put(reader, book.bookId, [`Other ${n}`])))
    expect(raced.map(({ status }) => status)).toEqual([409, 409, 409])
    expect(await allTags(reader)).toHaveLength(2000)
  })

  it('include those that only a link shows', async () => {
    await remove(reader, 'Tag 9')
    expect((await put(reader, bookId, ['Shown'])).status).toBe(200)
    const { body: link } = await reader.post('/links', { name: 'Shown', kind: 'SHELF', tag: 'Shown' })
    expect((await put(reader, bookId, ['Other'])).status).toBe(409)
    expect((await put(reader, bookId, [])).status).toBe(200)
    expect((await put(reader, bookId, ['Other'])).status).toBe(409)
    await reader.delete(`/links/${link.linkId}`)
    expect((await put(reader, bookId, ['Other'])).status).toBe(200)
    expect(await allTags(reader)).toHaveLength(2000)
    expect(await findMismatches(memberDatabase())).toEqual([])
  })
})

describe('books with a tag', () => {
  it('are listed newest first, in pages that link to each other', async () => {
    const { reader, bookIds } = await createShelf(
      ['봄 & 여름/100%'],
      ['봄 & 여름/100%', 'Other'],
      ['Other'],
      ['봄 & 여름/100%'],
    )
    const [first, second, , fourth] = bookIds
    const answer = await tagged(reader, '봄 & 여름/100%', 1, 2)
    expect(answer.body.pageInfo).toEqual({ page: 1, size: 2, totalElements: 3, totalPages: 2 })
    expect(idsOf(answer)).toEqual([fourth, second])
    const [, next = ''] = /<([^>]+)>; rel="next"/.exec(answer.headers.get('Link') ?? '') ?? []
    expect(idsOf(await reader.get(next))).toEqual([first])
    const [library] = (await reader.get('/books/library?bookStatus=YET&page=1&size=1')).body.item
    expect(answer.body.item[0]).toEqual(library)
  })

  it('are found in any case and form', async () => {
    const { reader, bookIds } = await createShelf(['Ça ira', '겨울'])
    for (const tag of ['ça IRA', ' ÇA ira', 'ça ira'.normalize('NFD'), '겨울'.normalize('NFD')]) {
      expect(idsOf(await tagged(reader, tag)), tag).toEqual(bookIds)
    }
  })

  it('are none for an unknown tag', async () => {
    const { reader } = await createShelf(['A'])
    const pageInfo = { page: 1, size: 20, totalElements: 0, totalPages: 0 }
    expect(await tagged(reader, 'AA')).toMatchObject({ status: 200, body: { item: [], pageInfo } })
  })

  it.each(['', 'tag=&', 'tag=%20&', 'tag=%00&', `tag=${'x'.repeat(101)}&`, 'tag=a&tag=b&'])(
    'need a tag: %s',
    async (query) => {
      const { reader } = await createShelf()
      const answer = await reader.get(`/books/tagged?${query}page=1&size=1`)
      expect(answer).toMatchObject({ status: 400, body: { violationErrors: [{ propertyPath: 'tag' }] } })
    },
  )
})

describe('PATCH /tags', () => {
  it('renames a tag, even if only its case', async () => {
    const { reader, bookIds } = await createShelf(['Sci-Fi', 'x'], ['Sci-Fi'])
    expect(await rename(reader, 'sci-fi', 'SF')).toMatchObject({ status: 200, body: { tag: 'SF', bookCount: 2 } })
    expect((await rename(reader, 'SF', ' sf ')).body).toEqual({ tag: 'sf', bookCount: 2 })
    expect((await rename(reader, 'sf', 'sf')).body).toEqual({ tag: 'sf', bookCount: 2 })
    expect(await tagsOf(reader, bookIds[0] ?? 0)).toEqual(['sf', 'x'])
    expect(idsOf(await tagged(reader, 'SF'))).toEqual(bookIds.toReversed())
    expect(idsOf(await tagged(reader, 'sci-fi'))).toEqual([])
  })

  it('merges two tags, and keeps the spelling of the one that exists', async () => {
    const { reader, bookIds } = await createShelf(['소설', 'Old'], ['Novel'], ['소설', 'Novel'], ['Old'])
    expect((await rename(reader, 'NOVEL', '소설'.normalize('NFD'))).body).toEqual({ tag: '소설', bookCount: 3 })
    expect((await rename(reader, '소설', 'OLD')).body).toEqual({ tag: 'Old', bookCount: 4 })
    expect(await allTags(reader)).toEqual([{ tag: 'Old', bookCount: 4 }])
    for (const bookId of bookIds) expect(await tagsOf(reader, bookId)).toEqual(['Old'])
    expect(await findMismatches(memberDatabase())).toEqual([])
  })

  it('moves only the fewer books when it merges', async () => {
    const { reader, bookIds } = await createShelf(['few'], [])
    const memberId = await memberIdOf(reader)
    await fillShelf(memberId, 300)
    await select(`insert into tags (memberId, tagId, tag, tagKey) values (${memberId}, 9, 'Many', 'many')`)
    await select(`insert into bookTags select memberId, 9, bookId from books where memberId = ${memberId}`)
    const merge = (from: string, to: string) => measure(async () => rename(reader, from, to))
    const costs = [await merge('MANY', 'FEW')]
    expect(await allTags(reader)).toEqual([{ tag: 'few', bookCount: 302 }])
    await put(reader, bookIds[1] ?? 0, ['few', 'Other'])
    costs.push(await merge('other', 'few'))
    for (const cost of costs) expect(cost.written).toBeLessThan(20)
    expect(await tagsOf(reader, bookIds[1] ?? 0)).toEqual(['few'])
    expect(await findMismatches(memberDatabase())).toEqual([])
  })

  it('returns 404 for an unknown tag, even if the other one exists', async () => {
    const { reader } = await createShelf(['A'])
    for (const to of ['A', 'B', 'a']) {
      const answer = await rename(reader, 'AA', to)
      expect(answer).toMatchObject({ status: 404, body: { message: 'Tag not found' } })
    }
    expect(await allTags(reader)).toEqual([{ tag: 'A', bookCount: 1 }])
  })

  it.each([
    [{ from: 'A' }, 'to'],
    [{ to: 'A' }, 'from'],
    [{ from: 'A', to: ' ' }, 'to'],
    [{ from: 1, to: 'A' }, 'from'],
  ])('refuses %j', async (body, field) => {
    const { reader } = await createShelf(['A'])
    expect(await reader.patch('/tags', body)).toMatchObject({ status: 400, body: { fieldErrors: [{ field }] } })
  })
})

it('deletes a tag from all books', async () => {
  const { reader, bookIds } = await createShelf(['가을', 'Kept'], ['가을'])
  expect((await remove(reader, ' 가을'.normalize('NFD'))).status).toBe(204)
  expect(await remove(reader, '가을')).toMatchObject({ status: 404, body: { message: 'Tag not found' } })
  expect(await allTags(reader)).toEqual([{ tag: 'Kept', bookCount: 1 }])
  expect(await Promise.all(bookIds.map((bookId) => tagsOf(reader, bookId)))).toEqual([['Kept'], []])
  expect(await findMismatches(memberDatabase())).toEqual([])
})

describe('another member', () => {
  it('sees and changes nothing', async () => {
    const { reader, bookId } = await createShelf(['Secret', 'Other'])
    const stranger = (await createShelf(['Mine'])).reader
    const tables = () => Promise.all(['tags', 'bookTags'].map((table) => select(`select * from ${table}`)))
    const before = await tables()
    expect(await allTags(stranger)).toEqual([{ tag: 'Mine', bookCount: 1 }])
    expect((await tagged(stranger, 'Secret')).body.item).toEqual([])
    expect((await rename(stranger, 'Secret', 'Mine')).status).toBe(404)
    expect((await remove(stranger, 'Secret')).status).toBe(404)
    expect(await tables()).toEqual(before)
    expect(await tagsOf(reader, bookId)).toEqual(['Other', 'Secret'])
  })
})

describe('one database call, at a cost independent of the size of the library', () => {
  const createLibrary = async (books: number) => {
    const { reader, bookId } = await createShelf(['Essay', 'Poem'])
    const memberId = await memberIdOf(reader)
    await fillShelf(memberId, books)
    await select(
      `insert into bookTags (memberId, tagId, bookId) select ?1, 1, bookId from books where memberId = ?1 and bookId <> ?2`,
      memberId,
      bookId,
    )
    return { reader, bookId }
  }
  type Library = Awaited<ReturnType<typeof createLibrary>>
  let small: Library
  let large: Library
  beforeAll(async () => {
    small = await createLibrary(60)
    large = await createLibrary(3000)
  })

  it.each<[string, (library: Library) => Promise<unknown>, written: number]>([
    ['tags of a book', ({ reader, bookId }) => reader.get(`/books/${bookId}/tags`), 0],
    ['all tags', ({ reader }) => reader.get('/tags'), 0],
    ['books with a tag', ({ reader }) => tagged(reader, 'essay'), 0],
    ['the same tags', ({ reader, bookId }) => put(reader, bookId, ['Poem', 'Essay']), 0],
    // The tag and its index; the book's tag, its index and the count.
    ['a new tag', ({ reader, bookId }) => put(reader, bookId, ['Poem', 'Essay', 'Play']), 5],
    ['a tag less', ({ reader, bookId }) => put(reader, bookId, ['Poem', 'Essay']), 2],
    ['an added tag', ({ reader, bookId }) => change(reader, bookId, { add: ['Play', 'Poem'], remove: ['None'] }), 5],
    ['a removed tag', ({ reader, bookId }) => change(reader, bookId, { remove: ['Play'] }), 2],
    ['rename', ({ reader }) => rename(reader, 'Poem', 'Poems'), 2],
    ['rename of a tag with many books', ({ reader }) => rename(reader, 'Essay', 'Essays'), 2],
  ])('%s', async (_, operation, written) => {
    const inSmall = await measure(() => operation(small))
    const inLarge = await measure(() => operation(large))
    expect([inSmall.calls, inLarge.calls]).toEqual([1, 1])
    expect(inLarge.read).toBeLessThanOrEqual(inSmall.read * 1.1)
    expect([inSmall.written, inLarge.written]).toEqual([written, written])
  })

  it('writes one row per book to delete a tag, and four to merge it', async () => {
    const { written, calls } = await measure(() => rename(small.reader, 'Essays', 'Poems'))
    expect(calls).toBe(1)
    expect(written).toBeLessThanOrEqual(60 * 4 + 5)
    const deletion = await measure(() => remove(large.reader, 'Essays'))
    expect(deletion.calls).toBe(1)
    expect(deletion.written).toBeLessThanOrEqual(3001 + 3)
    expect(await findMismatches(memberDatabase())).toEqual([])
  })
})

it('counts ten tags of a book as a further write', async () => {
  const { reader, bookId } = await createShelf(['Essay'])
  const limit = vi.fn<RateLimit['limit']>(async () => ({ success: true }))
  const writesOf = async (tags: string[]) => {
    limit.mockClear()
    const changed = { WRITE_LIMIT: { limit } as RateLimit }
    expect((await reader.send('PUT', `/books/${bookId}/tags`, { body: { tags }, changed })).status).toBe(200)
    return limit.mock.calls.length
  }
  const tags = Array.from({ length: 30 }, (_, n) => `Tag ${n}`)
  expect([await writesOf(tags.slice(0, 9)), await writesOf(tags), await writesOf([])]).toEqual([1, 4, 1])
})
