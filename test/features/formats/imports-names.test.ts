import { describe, expect, it } from 'vitest'
import { emptyEntry } from '../../../src/transfer/entries/entry'
import { toAuthorKeys, toNameStarts, toTitle } from '../../../src/transfer/entries/names'
import { markDuplicates } from '../../../src/transfer/reader/identity'

const sharesKey = (one: string, other: string) => {
  const keys = toAuthorKeys(one)
  return toAuthorKeys(other).some((key) => keys.includes(key))
}

describe('the first author', () => {
  it.each([
    ['Oh, Mina', 'Mina Oh'],
    ['Oh, Mina', 'mina OH, Joon Park'],
    ['Oh, Mina; Park, Joon', 'Mina Oh & Joon Park'],
    ['Stanisław Lem', 'Lem, Stanislaw'],
    ['Søren Ærøe', 'Soren Aeroe'],
    ['García Márquez, Gabriel', 'Gabriel Garcia Marquez'],
    ['García Márquez, Gabriel José', 'Gabriel José García Márquez'],
    ['Le Guin, Ursula K.', 'Ursula K. Le Guin'],
    ['Tolkien, J. R. R.', 'J.R.R. Tolkien'],
    ['JRR Tolkien', 'J. R. R. Tolkien'],
    ["O'Brien, Flann", 'Flann O’Brien'],
    ['한강', '한강, 데버러 스미스'],
    ['村上 春樹', '村上春樹'],
  ])('of %j is that of %j', (one, other) => {
    expect(sharesKey(one, other)).toBe(true)
  })

  it.each([
    ['Park, Joon', 'Park, Mina'],
    ['Mina Oh', 'Joon Oh'],
    ['Iain Banks', 'Iain M. Banks'],
    ['Mina Oh, Joon Park', 'Joon Park, Mina Lee'],
    ['García Márquez, Gabriel', 'García Márquez, Rodrigo'],
    ['がき', 'かき'],
  ])('of %j is not that of %j', (one, other) => {
    expect(sharesKey(one, other)).toBe(false)
  })
})

describe('a title', () => {
  it.each([
    ['The Salt Archive (Harbour, #2)', 'The Salt Archive'],
    ['The Salt Archive (Harbour Book 2)', 'The Salt Archive'],
    ['The Salt Archive: A Novel (Harbour, #2)', 'the salt archive'],
    ['Dune (Dune, #1)', 'Dune'],
    ['Solaris – Roman', 'Solaris'],
    ['Niebiańskie Ołtarze', 'Niebianskie Oltarze'],
    ['Salt & Tide', 'Salt and Tide'],
    ['Salz & Stille', 'Salz und Stille'],
    ['？！', '？！'],
    // A run of marks is cut: no language has a longer one.
    [`a${'\u0323\u0307'.repeat(20)}`, `a${'\u0323\u0307'.repeat(200)}`],
  ])('%j equals %j', (one, other) => {
    expect(toTitle(one).key).toBe(toTitle(other).key)
  })

  it.each([
    ['Saga (Saga, #2)', 'Saga'],
    ['Poems (Vol. 1)', 'Poems (Vol. 2)'],
    ['The Lord of the Rings: The Two Towers', 'The Lord of the Rings'],
    ['And Then the Tide', 'Then the Tide'],
    ['Low Tide, Second Edition', 'Low Tide'],
    ['？', '！'],
  ])('%j does not equal %j', (one, other) => {
    expect(toTitle(one).key).not.toBe(toTitle(other).key)
  })

  it('has shorter titles without its subtitle, its edition, or what comes before that', () => {
    expect(toTitle('Tide, Salt and Lamps, 2nd revised Edition').shortKeys[0]).toBe('tide salt lamps')
    expect(toTitle('Rings: The Two Towers - A Tale').shortKeys).toEqual(['rings', 'rings the two towers', 'a tale'])
    expect(toTitle('데미안 (세계문학전집 44)').shortKeys).toEqual(['데미안'])
    expect(toTitle('Low Tide').shortKeys).toEqual([])
  })

  it('has at most three shorter titles, however many parts it has', () => {
    expect(toTitle('é: '.repeat(167)).shortKeys).toHaveLength(2)
    expect(toTitle('a: b – c (d: e – f').shortKeys).toEqual(['a', 'a b c d e', 'f'])
  })

  it('has the number in its series', () => {
    const numberOf = (title: string) => toTitle(title).number
    expect(numberOf('Low Tide (Harbour, #2)')).toBe(numberOf('Low Tide (Harbour Book 2.0)'))
    expect(numberOf('Low Tide (Harbour, #2)')).not.toBe(numberOf('Low Tide (Harbour, #2-3)'))
    expect(numberOf('Low Tide (1998)')).toBeUndefined()
  })
})

it('other spellings of an author share the beginning of a name', () => {
  expect(toNameStarts('Fyodor Dostoevsky')).toEqual(new Set(['fyod', 'dost']))
  expect(toNameStarts('Dostoyevsky, F.')).toEqual(new Set(['dost']))
})

it('a repeated book adds its highlights to the first one', () => {
  const memo = (content: string) => ({ type: 'BOOK_CONTENT' as const, content, page: 0, createdAt: null })
  const entry = (line: number, author: string, ...texts: string[]) => {
    const memos = texts.map(memo)
    return { ...emptyEntry(line), title: 'Low Tide', author, memos }
  }
  const entries = markDuplicates([
    entry(1, 'Ruiz, Ana', 'one', 'two', 'two'),
    entry(2, 'Ana Ruiz', 'two', 'three'),
    entry(3, 'Ana Ruiz', 'three'),
    entry(4, 'Leo Ruiz', 'one'),
  ])
  expect(entries.map(({ failure }) => failure)).toEqual([null, 'merged-in-file', 'duplicate-in-file', null])
  expect(entries[0]?.memos.map(({ content }) => content)).toEqual(['one', 'two', 'two', 'three'])
})
