import { MAX_NAME } from '../../values/contract'
import { cutMarks, fold } from '../../values/text/fold'

// The numbers of volumes in titles, as words of English, German, French, Spanish, Portuguese, Italian, Dutch, Swedish,
// Polish, Russian, Korean, Japanese and Chinese.

const words = (list: string) => fold(list).split(' ')

const MARKERS = new Set(
  words(
    'volume vol book bk part pt no nr number issue band bd teil buch heft tome livre partie tomo volumen libro parte livro deel boek bok del tom czesc ksiega том книга часть 제 권 부 편 집 第 巻 卷 部 編 编 篇 冊 册 集',
  ),
)
/** Words for 1 that are also articles: they are numbers after a word for a volume. */
const ARTICLES = new Set(words('un une una um uma ein eine een en jeden'))
/** The number 1, then 2, and so on. */
const COUNTED = [
  'one first eins erste erster erstes premier premiere uno primero primera primer primeiro primeira primo prima eerste forsta pierwszy pierwsza pierwsze один первый первая первое 첫째 一',
  'two second zwei zweite zweiter zweites deux deuxieme seconde dos segundo segunda dois due secondo seconda twee tweede tva andra drugi druga drugie два второй вторая второе 둘째 二',
  'three third drei dritte dritter drittes trois troisieme tres tercero tercera tercer terceiro terceira tre terzo terza drie derde tredje trzeci trzecia trzecie три третий третья третье 셋째 三',
  'four fourth vier vierte vierter viertes quatre quatrieme cuatro cuarto cuarta quatro quarto quarta quattro vierde fyra fjarde czwarty czwarta czwarte четыре четвертый четвертая 넷째 四',
  'five fifth fünf fünfte fünfter fünftes cinq cinquieme cinco quinto quinta cinque vijf vijfde fem femte piaty piata пять пятый пятая 다섯째 五',
  'six sixth sechs sechste sechster sechstes sixieme seis sexto sexta sei sesto sesta zes zesde sex sjatte szosty szosta шесть шестой шестая 여섯째 六',
  'seven seventh sieben siebte siebter siebtes sept septieme siete septimo septima sete setimo setima sette settimo settima zeven zevende sju sjunde siodmy siodma семь седьмой седьмая 七',
  'eight eighth acht achte achter achtes huit huitieme ocho octavo octava oito oitavo oitava otto ottavo ottava achtste atta attonde osmy osma восемь восьмой восьмая 八',
  'nine ninth neun neunte neunter neuntes neuf neuvieme nueve noveno novena nove nono nona negen negende nio nionde dziewiaty dziewiata девять девятый девятая 九',
  'ten tenth zehn zehnte zehnter zehntes dix dixieme diez decimo decima dez dieci tien tiende tio tionde dziesiaty dziesiata десять десятый десятая 十',
]
const NUMBERS = new Map<string, string>([
  ...COUNTED.flatMap((list, at) => words(list).map((word) => [word, `${at + 1}`] as const)),
  ...words('上 상').map((word) => [word, 'upper'] as const),
  ...words('中 중').map((word) => [word, 'middle'] as const),
  ...words('下 하').map((word) => [word, 'lower'] as const),
  ...words('前').map((word) => [word, 'former'] as const),
  ...words('後 后').map((word) => [word, 'latter'] as const),
  ...words(
    'box boxed boxset set omnibus schuber sammelband gesamtausgabe coffret estuche cofanetto комплект pakiet 세트 전권 セット 全巻 全卷 合本 套装 套裝',
  ).map((word) => [word, 'set'] as const),
])

const ROMAN = /^x{0,3}(?:ix|iv|v?i{0,3})$/
const VALUES: Record<string, number> = { i: 1, v: 5, x: 10 }
const fromRoman = (word: string) =>
  [...word].reduce((sum, letter, at) => {
    const [value = 0, next = 0] = [VALUES[letter], VALUES[word[at + 1] ?? '']]
    return sum + (value < next ? -value : value)
  }, 0)

// Longer numbers are none: a search for their end from each of their characters would take quadratic time.
/** Words of these scripts may have the number at the end, without a blank: `カフカ上巻`, `三国志第二部`, `卷一`, `태백산맥하`. */
const ATTACHED =
  /(第?)((?<![一二三四五六七八九十])[一二三四五六七八九十]{1,4}|[上中下前後后상중하])(?=[巻卷部編编篇冊册集권부편](?![\p{L}\p{M}]))|(?<=[巻卷部])([一二三四五六七八九十]{1,4})(?![\p{L}\p{M}])|(?<=[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}ー])([상중하上中下])$/gu
/** A year of publication. */
const YEAR = /[([](?:1[5-9]|20)\d\d[)\]]/g
const ORDINAL = /(\p{N})(?:st|nd|rd|th|ere?|re|eme|[eoaия])(?![\p{L}\p{M}])/gu

const toNumber = (token: string, previous: string) => {
  if (/^\p{N}+$/u.test(token)) return token.replace(/^0+(?=.)/, '')
  const known = NUMBERS.get(token)
  if (known) return known
  if (ROMAN.test(token)) return String(fromRoman(token))
  if (/^[一二三四五六七八九十]+$/.test(token)) return token
  if (!MARKERS.has(previous)) return undefined
  return ARTICLES.has(token) ? '1' : /^[a-z]$/.test(token) ? token : undefined
}

/** `base`: a title without numbers and words for a volume. `marked`: the numbers beside such a word. */
export type Volume = { base: string; numbers: string; marked: string }

/** @param title without a series in brackets. Compatibility forms can make it longer, so it is cut again. */
export const toVolume = (title: string): Volume => {
  const text = fold(cutMarks(title).normalize('NFKC').slice(0, MAX_NAME).replace(YEAR, ' '))
    .replaceAll("'", '')
    .replace(ORDINAL, '$1')
    .replace(ATTACHED, ' $1 $2$3$4 ')
  const tokens = text.match(/\p{N}+|[\p{L}\p{M}]+/gu) ?? []
  const base: string[] = []
  const numbers: string[] = []
  const marked: string[] = []
  for (const [at, token] of tokens.entries()) {
    if (MARKERS.has(token)) continue
    const [previous = '', next = ''] = [tokens[at - 1], tokens[at + 1]]
    const number = toNumber(token, previous)
    if (number === undefined) base.push(token)
    else if (number !== numbers.at(-1)) numbers.push(number)
    if (number !== undefined && (MARKERS.has(previous) || MARKERS.has(next))) marked.push(number)
  }
  return { base: base.join(' '), numbers: numbers.join(' '), marked: marked.join(' ') }
}

/** Whether both texts are known (not empty) and differ. */
export const differ = (one: string, other: string) => one !== '' && other !== '' && one !== other

/** Whether titles differ only in their numbers, or in the numbers beside a word for a volume, if both have one. */
export const areVolumes = (one: Volume, other: Volume) =>
  (one.base === other.base && one.numbers !== other.numbers) || differ(one.marked, other.marked)

/** Like `areVolumes`, but a title without a number may be that of any volume. */
export const areNumberedApart = (one: Volume, other: Volume) =>
  areVolumes(one, other) && differ(one.numbers, other.numbers)
