// Few values, so that they meet: texts in several scripts, equal in another case or Unicode normalization form.

export const TITLES = [
  'Demian',
  'DEMIAN',
  'demian 2',
  '데미안',
  '데미안'.normalize('NFD'),
  'Œuvres',
  'œuvres',
  'Ζορμπάς',
  'ΖΟΡΜΠΆΣ',
  'Straße',
  'STRASSE',
  '𐐀 and 𐐨',
  '𐐨',
  '￥100',
  '100%_\\',
]

export const AUTHORS = [
  'Hermann Hesse',
  'HERMANN HESSE',
  '한강',
  '한강'.normalize('NFD'),
  'Émile Ajar',
  'émile ajar',
  'İnci',
  '𐐀',
  '￥',
]

export const TEXTS = [
  'Read this page again.',
  'READ it AGAIN',
  '이 페이지는 다시 읽을 것.',
  '역사'.normalize('NFD'),
  '<p>역사란 무엇인가</p>',
  'Ά ΣΟΦΌΣ σοφός',
  'straße, STRASSE',
  `${'x'.repeat(300)} needle ${'y'.repeat(300)}`,
  '100% _ \\ %',
]

export const DATES = ['2024-01-02T03:04:05', '2024-02-29T00:00:00', '2024-12-31T23:59:59', '2025-03-01T12:00:00']
/** Years before the run. */
export const OLD_DATES = ['2001-01-01T00:00:00', '1999-12-31T23:59:59']

/** As sent, and as stored: null if it is invalid. */
export const ISBNS: [sent: string, stored: string | null][] = [
  ['9788936434120', '9788936434120'],
  ['978-89-364-3412-0', '9788936434120'],
  ['89 364 3412 8', '9788936434120'],
  ['080442957x', '9780804429573'],
  ['3064061526', '9783064061521'],
  ['9788936434121', null],
  ['080442957', null],
  ['9770804429576', null],
]

/** Equal ones, too: in another case or normalization form, or with spaces around. */
export const TAGS = [
  'novel',
  'Novel',
  'NOVEL ',
  '소설',
  '소설'.normalize('NFD'),
  'Été',
  'été',
  'ete',
  'a/b?&#%',
  'Straße',
  '𐐀',
]

/** Search terms: parts of the texts, and some that occur nowhere. */
export const TERMS = [
  'demian',
  'MIAN',
  '데미',
  '한강'.normalize('NFD'),
  'ΣΟΦ',
  'strasse',
  'ße',
  'œuv',
  '역사',
  'needle',
  '%_',
  '100',
  '다시',
  'zz',
  '이 페',
  'it read',
  '再',
  '강 한',
  'ETE',
  '3412',
  '89 364 3412 8',
]

/** Of readings: some as far as they are known. The first are those of DATES. */
export const DAYS = ['2024-01-02', '2024-02-29', '2024-12-31', '2025-03-01', '2024', '2024-12', '2023-07']

/** Of progress. */
export const INSTANTS = [
  '2024-01-02T03:04:05Z',
  '2024-01-02T03:04:05.1Z',
  '2024-01-02T03:04:05.999Z',
  '2025-03-01T12:00:00Z',
]
