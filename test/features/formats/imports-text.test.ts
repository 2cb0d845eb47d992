import { describe, expect, it } from 'vitest'
import { decodeText, describeUnsupported } from '../../../src/transfer/reader/text'
import openLibrary from '../../fixtures/imports/open-library.csv?raw'
import { bytesOf, read, reasonOf, utf16Of } from '../../support/transfer/import-files'

const bytes = (...values: number[]) => new Uint8Array(values)

describe('the encoding of an import', () => {
  it.each([
    ['UTF-8', bytesOf('제목,é'), 'utf-8'],
    ['UTF-8 with a byte order mark', bytesOf('\ufeff제목,é'), 'utf-8'],
    ['UTF-16, little-endian', utf16Of('제목,é', false), 'utf-16le'],
    ['UTF-16, big-endian', utf16Of('제목,é', true), 'utf-16be'],
  ])('is recognized: %s', (_, file, encoding) => {
    expect(decodeText(file)).toEqual({ text: '제목,é', encoding })
  })

  it('is UTF-16 also without a byte order mark', () => {
    expect(decodeText(utf16Of('Title', false, ''))).toEqual({ text: 'Title', encoding: 'utf-16le' })
    expect(decodeText(utf16Of('Title', true, ''))).toEqual({ text: 'Title', encoding: 'utf-16be' })
  })

  // 제목 in EUC-KR, é in windows-1252
  const korean = bytes(0xc1, 0xa6, 0xb8, 0xf1, 0x2c, 0x41)
  const western = bytes(0x43, 0x61, 0x66, 0xe9, 0x2c, 0xe0)

  it('is guessed if the file is not UTF-8', () => {
    expect(decodeText(korean)).toEqual({ text: '제목,A', encoding: 'euc-kr' })
    expect(decodeText(western)).toEqual({ text: 'Café,à', encoding: 'windows-1252' })
  })

  it('is that of the member if the file is not UTF-8', () => {
    expect(decodeText(western, 'iso-8859-2')).toMatchObject({ text: 'Café,ŕ', encoding: 'iso-8859-2' })
    expect(decodeText(bytesOf('é'), 'windows-1252')).toEqual({ text: 'é', encoding: 'utf-8' })
    expect(reasonOf(western, { encoding: 'klingon' })).toMatch('encoding klingon is not known')
  })

  it('is named in the result', () => {
    const row = bytes(...bytesOf('Title,Author\n'), ...korean)
    expect(read(row)).toMatchObject({ encoding: 'euc-kr', entries: [{ title: '제목', author: 'A' }] })
  })

  it('loses NUL characters, which cannot be stored', () => {
    expect(decodeText(bytesOf('Ti\0tle')).text).toBe('Title')
  })
})

describe('a file that is not supported', () => {
  it.each([
    ['a ZIP archive', 'PK\x03\x04...', /ZIP archive.*privacy/],
    ['a SQLite database', 'SQLite format 3\0...', /SQLite/],
    ['a PDF', '%PDF-1.7', /PDF/],
    ['a gzip archive', '\x1f\x8b\x08', /gzip/],
    ['a PNG', '\x89PNG\r\n', /image/],
    ['a JPEG', '\xff\xd8\xff\xe0', /image/],
    ['a sidecar of KOReader', '-- we can read Lua syntax here!\nreturn {\n  ["stats"]', /KOReader.*JSON/],
    ['a metadata file of Calibre', '<?xml version="1.0"?>\n<package>', /XML/],
    ['a web page', '\n<!DOCTYPE html><html>', /web page/],
    ['an empty file', '', /empty/],
    ['a blank file', '\xef\xbb\xbf \r\n', /empty/],
  ])('is named: %s', (_, start, reason) => {
    const file = Uint8Array.from(start, (character) => character.charCodeAt(0))
    expect(describeUnsupported(file)).toMatch(reason)
    expect(reasonOf(file)).toMatch(reason)
  })

  it('is refused by name: the reading log of Open Library', () => {
    expect(reasonOf(openLibrary)).toMatch('Open Library')
  })

  it('is refused with its columns if none holds titles', () => {
    expect(reasonOf('Foo,Bar\n1,2\n')).toMatch(/Foo, Bar.*title/)
    expect(reasonOf('{"a": 1}')).toMatch('JSON')
    expect(reasonOf('Title\nA\n', { format: 'goodreads' })).toMatch('does not have the format goodreads')
  })

  it('is not a table or a text', () => {
    expect(describeUnsupported(bytesOf('Title,Author\n'))).toBeUndefined()
    expect(describeUnsupported(bytesOf('\ufeffThe Salt Archive (Mina Oh)\r\n- Your Highlight'))).toBeUndefined()
  })
})
