// A withdrawal: afterwards nothing that is stored names the member, read by its own interfaces or byte by byte.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join as joinPath } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { join, toText } from '../support/bytes'
import { chunk, PNG_SIGNATURE, pngHeader } from '../support/pictures'
import { readStores } from '../support/stores'
import { join as joinService, logIn, type Member, PASSWORD, registerBook, upload, withJson, writeMemo } from './members'
import type { Part } from './part'
import type { Service } from './service'
import { checkpoint, compact, readFiles, search } from './traces'

/** What somebody leaves behind, each text found nowhere else. */
type Traces = {
  email: string
  name: string
  title: string
  author: string
  memo: string
  changed: string
  image: string
}

const tracesOf = (who: string): Traces => ({
  email: `${who}-zanzibar@withdrawal.example`,
  name: `${who} Quixotenbaum`,
  title: `${who} reads of Wolkenkuckucksheim`,
  author: `${who} by Mnemosyne Hapax`,
  memo: `${who} remembers Xanadu's 수미산 page`,
  changed: `${who} thought better of Ultima Thule`,
  image: `${who}-PIXELS-OF-ATLANTIS`,
})

const picture = (text: string) => join(PNG_SIGNATURE, pngHeader(4, 1), chunk('IDAT', text.repeat(20)), chunk('IEND'))

/** Signs up, and uses all that there is to use. */
const live = async (service: Service, traces: Traces): Promise<{ member: Member; images: string[] }> => {
  const { email, name, title, author, memo, changed, image } = traces
  const before = service.mails().length
  await service.ask(withJson('POST', '/email/join', { joinAuthCodeEmail: email }))
  let code: string | undefined
  while (!code) {
    await setTimeout(20)
    code = service
      .mails()
      .slice(before)
      .join()
      .match(/\b\d{6}\b/)?.[0]
  }
  await joinService(service, email, { name, authenticationCode: '999999' })
  await joinService(service, email, { name, authenticationCode: code })
  await service.ask(withJson('POST', '/login', { email, password: 'wrong' }))
  const member = await logIn(service, email)
  const { token } = member
  const bookId = await registerBook(service, member, {
    title,
    author,
    publisher: name,
    cover: `https://covers.example/${image}`,
  })
  const other = await registerBook(service, member, { title: `${title} again`, author })
  const memoId = await writeMemo(service, member, bookId, { memoContent: memo })
  await writeMemo(service, member, other, { memoContent: memo })
  const gone = await writeMemo(service, member, other, { memoContent: memo })
  await service.ask(withJson('PATCH', `/memos/${memoId}`, { memoContent: changed }, { token }))
  await service.ask(withJson('PATCH', `/books/${bookId}`, { author: changed }, { token }))
  await service.ask(withJson('PATCH', '/members/me', { name: `${name} II`, password: PASSWORD }, { token }))
  await service.ask({ method: 'DELETE', path: `/memos/${gone}`, token })
  const images: string[] = []
  for (let n = 0; n < 3; n++) {
    const { status, body } = await service.ask(upload(member, picture(image)))
    if (status !== 201) throw new Error(`The picture was not taken: ${status}`)
    const path = new URL(String(body)).pathname
    // Asked for twice: the second answer is the cache's.
    for (let times = 0; times < 2; times++) await service.ask({ method: 'GET', path })
    images.push(path)
  }
  for (const path of ['/books/library?page=1&size=10&bookStatus=YET', '/memos/random', '/members/me']) {
    await service.ask({ method: 'GET', path, token })
  }
  return { member, images }
}

export const withdrawal: Part = async ({ progress, start }) => {
  const data = mkdtempSync(joinPath(tmpdir(), 'reading-library-'))
  const service = await start({ vars: { EMAIL_VERIFICATION: undefined }, data })
  const failures: string[] = []
  progress('living')
  const [leaver, neighbour] = [tracesOf('Leaver'), tracesOf('Neighbour')]
  const { member, images } = await live(service, leaver)
  await live(service, neighbour)
  const traces = Object.values(leaver)
  const found = (places: [string, Uint8Array][], what: string[]) =>
    new Set(search(places, what).map((each) => each.split(' in ')[0])).size

  const stored = found(await readStores(service), traces)
  if (stored < traces.length)
    failures.push(`only ${stored} of ${traces.length} traces are stored, before the withdrawal`)

  progress('withdrawing')
  const { status } = await service.ask({ method: 'DELETE', path: '/members/me', token: member.token })
  if (status !== 204) failures.push(`the withdrawal was answered ${status}`)
  await service.sweep()
  for (const path of images) {
    const { status: served } = await service.ask({ method: 'GET', path })
    if (served !== 404) failures.push(`${path} is still served: ${served}`)
  }
  // As if the hour had passed that a purge is repeated for, and the day that attempts are looked at.
  await service.database.batch([
    service.database.prepare('update purgeJobs set createdAt = createdAt - 3600001'),
    service.database.prepare('update attempts set at = at - 86400001'),
  ])
  await service.sweep()

  const stores = await readStores(service)
  const left = search(stores, traces)
  failures.push(...left)
  const numbered = stores.filter(([name, bytes]) => {
    const isOfMembers = /^table (members|books|memos|purgeJobs|attempts|joinCodes)$/.test(name)
    return isOfMembers && new RegExp(`"memberId":${member.memberId}\\b`).test(toText(bytes))
  })
  failures.push(...numbered.map(([name]) => `the member's number in ${name}`))
  if (found(stores, Object.values(neighbour)) < traces.length) failures.push('the neighbour lost something')

  progress('searching the files')
  await service.stop()
  const files = readFiles(data)
  const inLogs = search(files, traces)
  checkpoint(data)
  const checkpointed = search(readFiles(data), traces)
  compact(data)
  const compacted = readFiles(data)
  const remains = search(compacted, traces)
  failures.push(...remains.map((each) => `${each}, a file`))
  const control = found(compacted, Object.values(neighbour))
  if (control < traces.length) failures.push(`the search finds only ${control} traces of the neighbour`)
  rmSync(data, { recursive: true })
  const bytes = files.reduce((sum, [, content]) => sum + content.length, 0)
  return {
    figures: [
      {
        tried: 'traces of a member who withdrew, in all rows, objects and keys',
        times: traces.length,
        found: `${left.length} left`,
      },
      {
        tried: 'the same in the bytes of all files, once the databases gave away the space they had freed',
        times: compacted.length,
        found: `${remains.length} left`,
      },
      {
        tried: 'the same before that, which D1 lets nobody ask for: in freed pages and logs',
        times: files.length,
        found: `${inLogs.length} still there, ${checkpointed.length} once the logs are written back`,
      },
      {
        tried: 'traces of a neighbour who stayed, by the same search',
        times: traces.length,
        found: `${control} found`,
      },
      { tried: 'bytes searched', times: bytes, found: 'in nine spellings' },
    ],
    failures,
  }
}
