import { expect, it } from 'vitest'
import { readForm } from '../../../src/input/multipart'
import { join } from '../../support/bytes'

const TYPE = 'multipart/form-data; boundary=b'
const read = (body: string, type = TYPE) =>
  readForm(join(body), type)?.map(({ name, fileName, content }) => [name, fileName, new TextDecoder().decode(content)])

const headers = (name: string, file?: string) =>
  `Content-Disposition: form-data; name="${name}"${file === undefined ? '' : `; filename="${file}"`}\r\n`
const part = (name: string, content: string, file?: string) => `--b\r\n${headers(name, file)}\r\n${content}\r\n`

it('reads a form part by part, with any content', () => {
  const content = 'one\r\n--a, not it: \r\n-- b\r\r\n--a\r\n'
  expect(read(`${part('note', 'text')}${part('file', content, 'a.png')}${part('empty', '', '')}--b--\r\n`)).toEqual([
    ['note', undefined, 'text'],
    ['file', 'a.png', content],
    ['empty', '', ''],
  ])
})

it.each([
  ['a quoted boundary', `${part('a', 'x')}--b--`, 'multipart/form-data; charset=utf-8; boundary="b"'],
  ['a preamble and an epilogue', `before\r\n${part('a', 'x')}--b--\r\nafter`],
  ['headers in any order and case', '--b\r\nX: 1\r\nCONTENT-DISPOSITION: form-data; name=a\r\n\r\nx\r\n--b--'],
])('accepts a form with %s', (_, body, type?: string) => {
  expect(read(body, type)).toEqual([['a', undefined, 'x']])
})

it.each([
  ['has no boundary', part('a', 'x'), 'multipart/form-data'],
  ['has another boundary', `${part('a', 'x')}--b--`, 'multipart/form-data; boundary=c'],
  ['is cut off in a part', part('a', 'x').slice(0, -4)],
  ['is cut off after a part', part('a', 'x')],
  ['has a part without a name', '--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--'],
  ['has line feeds for line ends', `${part('a', 'x')}--b--`.replaceAll('\r\n', '\n')],
  ['has folded headers', `${part('a', 'x')}--b--`.replace('; name', ';\r\n name')],
  ['has blanks after a boundary', `${part('a', 'x')}--b--`.replace('--b', '--b ')],
  ['has blanks around an equals sign', `${part('a', 'x')}--b--`.replace('name=', 'name = ')],
  ['has headers of more than 8 KiB', `--b\r\nX: ${'x'.repeat(9000)}\r\n${headers('a')}\r\nx\r\n--b--`],
  ['is empty', ''],
])('refuses a form that %s', (_, body, type?: string) => {
  expect(read(body, type)).toBeUndefined()
})

it('does not copy the content', () => {
  const bytes = join(`${part('a', 'x', 'f')}--b--`)
  expect(readForm(bytes, TYPE)?.[0]?.content.buffer).toBe(bytes.buffer)
})
