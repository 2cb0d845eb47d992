// One member's connections read pages that take the database as long as possible, while others read their first page.
import { encode, median } from '../../support/service/http-client'
import type { Context, Report } from './attack'
import { generateLoad, openConnections } from './load'
import { type Member, registerBook, signUp, signUpMany } from './members'

const ATTACKING = 140
const OTHERS = 4
/** How many times longer others may wait than beside as many connections that make cheap requests. */
const MAX_FACTOR = 3

// Half of the books are old, which makes counting and reading them as expensive as possible.
const insertBooks = `
  with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)
  insert into books (bookId, memberId, title, createdAt)
  select (select max(bookId) from books) + i, (select max(memberId) from members), 'Book ' || i,
    iif(i % 2, '2020-01-01T00:00:00', '2999-01-01T00:00:00') from n`
const SLOWEST = [
  '/books/abandon?page=200000&size=1',
  '/books/abandon?page=50000&size=1',
  '/books/abandon?page=1&size=1',
  '/books/library?page=100000&size=1&bookStatus=YET',
]

const requestTo =
  (paths: string[], ...members: Member[]) =>
  (connection: number, sent: number) =>
    encode({
      method: 'GET',
      path: paths[sent % paths.length] ?? '/',
      token: members[connection % members.length]?.token,
    })

export const holdDatabase = async ({ start, quick, progress }: Context): Promise<Report> => {
  const [books, ms] = quick ? [10_000, 500] : [200_000, 15_000]
  const service = await start()
  const others = await signUpMany(service, OTHERS)
  for (const member of others) await registerBook(service, member)
  const attacker = await signUp(service)
  await service.database.prepare(insertBooks).bind(books).run()
  const firstPages = requestTo(['/books/library?page=1&size=20&bookStatus=YET'], ...others)
  const readFirstPages = async () => generateLoad(await openConnections(service, OTHERS), firstPages, ms)
  await readFirstPages()
  progress('undisturbed')
  const undisturbed = await readFirstPages()
  const readBeside = async (paths: string[]) => {
    progress(`${ATTACKING} connections to ${paths.length} paths`)
    const sockets = await openConnections(service, ATTACKING + OTHERS)
    return Promise.all([
      generateLoad(sockets.splice(0, OTHERS), firstPages, ms),
      generateLoad(sockets, requestTo(paths, attacker), ms),
    ])
  }
  const [busy] = await readBeside(['/members/me'])
  const [disturbed, attack] = await readBeside(SLOWEST)
  const p50 = ({ latencies }: { latencies: number[] }) => Math.round(median(latencies) * 10) / 10
  const failures = [...disturbed.errors, ...attack.errors]
  if (disturbed.shed > 0) failures.push(`${disturbed.shed} requests of others were refused`)
  if (!quick && p50(disturbed) > MAX_FACTOR * p50(busy)) failures.push(`others waited ${p50(disturbed)} ms`)
  return {
    figures: [
      ['first pages of others, undisturbed', undisturbed.served, `p50 ${p50(undisturbed)} ms`],
      [`the same beside ${ATTACKING} connections that read a profile`, busy.served, `p50 ${p50(busy)} ms`],
      [
        `the same beside ${ATTACKING} connections to slow pages of ${books} books`,
        disturbed.served,
        `p50 ${p50(disturbed)} ms, ${disturbed.shed} refused`,
      ],
      ['slow pages requested', attack.served + attack.shed, `${attack.served} served, ${attack.shed} shed`],
    ],
    failures,
  }
}
