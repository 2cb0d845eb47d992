/** What the texts that take the most work for their size repeat. */
export const HOSTILE_TEXTS: Record<string, string> = {
  separators: 'é: ',
  dashes: 'é – ',
  brackets: ' (a book 1',
  'commas before an edition': ', edition',
  'dotted capitals': 'İ',
  numerals: '一',
  'letters that NFKC makes longer': '\ufdfa',
  'combining marks': '\u0301\u0323',
  'authors of one letter': 'é, ',
  'joined authors': 'É; ',
  'tags of 100 characters': `${'İ'.repeat(99)},`,
  'tags of one letter': 'İ,',
  'numbers of volumes': '上1 ',
  markup: '<a',
}

/** A text of a length in UTF-16 units. */
export const repeatTo = (part: string, length: number) => part.repeat(Math.ceil(length / part.length)).slice(0, length)
