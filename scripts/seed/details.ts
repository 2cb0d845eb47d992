import type { EditionPatch } from '../../src/library/editions/schema.ts'
import type { NewReading } from '../../src/library/readings/schema.ts'

/** What the demo member has recorded about books, by title, beyond status, dates and memos: also earlier readings. */
export const DETAILS: Record<string, EditionPatch & { tags?: string[]; readings?: NewReading[] }> = {
  'Pride and Prejudice': {
    isbn: '978-0-14-143951-8',
    language: 'en',
    format: 'PAPER',
    publishedYear: 2002,
    sourceIds: ['goodreads:1885'],
    tags: ['classic', 'again and again'],
    readings: [
      { startedAt: '2009', finishedAt: '2009', rating: 4.5, note: 'At school. I was on Lydia’s side.' },
      { startedAt: '2016-06', finishedAt: '2016-07-30', rating: 5 },
    ],
  },
  '1984': { isbn: '9780451524935', language: 'en', format: 'PAPER', tags: ['classic', 'dystopia'] },
  'Le Petit Prince': { isbn: '9782070612758', language: 'fr', format: 'PAPER', tags: ['classic', 'again and again'] },
  데미안: {
    isbn: '9788937460449',
    language: 'ko',
    format: 'PAPER',
    tags: ['고전', '소설'],
    readings: [{ finishedAt: '2011' }],
  },
  '소년이 온다': {
    isbn: '9788936434120',
    language: 'ko',
    format: 'PAPER',
    publishedYear: 2014,
    tags: ['소설', '한강'],
  },
  채식주의자: { isbn: '9788936433598', language: 'ko', format: 'EBOOK', tags: ['소설', '한강'] },
  'The Great Gatsby': { isbn: '9780743273565', language: 'en', format: 'AUDIO', tags: ['classic'] },
  'To Kill a Mockingbird': { isbn: '9780061120084', language: 'en', format: 'PAPER', tags: ['classic'] },
  'Project Hail Mary': { language: 'en', format: 'AUDIO', tags: ['science fiction'] },
  三体: { language: 'zh', format: 'EBOOK', series: '地球往事', seriesNumber: 1, tags: ['science fiction'] },
  Beloved: {
    language: 'en',
    format: 'PAPER',
    tags: ['classic'],
    readings: [
      { startedAt: '2019-02', finishedAt: '2019-03-02', outcome: 'STOPPED', note: 'Not the right month for it.' },
    ],
  },
  '7년의 밤': { language: 'ko', format: 'EBOOK', tags: ['소설', '스릴러'] },
  James: { language: 'en', format: 'AUDIO', tags: ['retelling'] },
}
