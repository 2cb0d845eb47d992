import { describe, expect, it } from 'vitest'
import { decodeText, describeUnsupported } from '../../../src/transfer/reader/text'
import openLibrary from '../../fixtures/imports/open-library.csv?raw'
import { bytesOf, encodeAs, libraryFile, read, reasonOf, utf16Of } from '../../support/transfer/import-files'

const bytes = (...values: number[]) => new Uint8Array(values)

describe('the encoding of an import', () => {
  it.each([
    ['UTF-8', bytesOf('제목,é'), 'utf-8'],
    ['UTF-8 with a byte order mark', bytesOf('\ufeff제목,é'), 'utf-8'],
    ['UTF-16, little-endian', utf16Of('제목,é', false), 'utf-16le'],
    ['UTF-16, big-endian', utf16Of('제목,é', true), 'utf-16be'],
  ])('is recognized: %s', (_, file, encoding) => {
    expect(decodeText(file)).toEqual({ text: '제목,é', encoding, isDamaged: false })
  })

  it('is UTF-16 also without a byte order mark', () => {
    expect(decodeText(utf16Of('Title', false, ''))).toMatchObject({ text: 'Title', encoding: 'utf-16le' })
    expect(decodeText(utf16Of('Title', true, ''))).toMatchObject({ text: 'Title', encoding: 'utf-16be' })
  })

  const korean = encodeAs('euc-kr', '채식주의자,한강')
  // é and à in windows-1252
  const western = bytes(0x43, 0x61, 0x66, 0xe9, 0x2c, 0xe0)

  it('is guessed if the file is not UTF-8', () => {
    expect(decodeText(korean)).toEqual({ text: '채식주의자,한강', encoding: 'euc-kr', isDamaged: false })
    expect(decodeText(western)).toEqual({ text: 'Café,à', encoding: 'windows-1252', isDamaged: false })
  })

  const LISTS = {
    'windows-1252': [
      'Les Misérables,Victor Hugo\nÀ la recherche du temps perdu,Marcel Proust\nL’Étranger — édition spéciale,Albert Camus',
      'Die Verwandlung,Franz Kafka\nDer Richter und sein Henker,Friedrich Dürrenmatt\nÜber den Fluß,Günter Grass',
      'Cien años de soledad,Gabriel García Márquez\nRayuela,Julio Cortázar\n¿Quién mató a Palomino Molero?,Mario Vargas Llosa',
      'Ensaio sobre a cegueira,José Saramago\nMemórias póstumas de Brás Cubas,Machado de Assis\nOs sertões,Euclides da Cunha\nCoração,São Paulo',
      'Kærlighedens gerninger,Søren Kierkegaard\nPippi Långstrump,Astrid Lindgren\nSmåfolk på ø,Jens Bjørneboe',
      'Il fu Mattia Pascal,Luigi Pirandello\nLa verità è,Niccolò Machiavelli',
      // With signs that typewriters and spreadsheets leave, and names of other languages.
      'L´Étranger ¨ ²,Albert Camus\nThérèse,François Mauriac\nThe Sublime Object,Slavoj Žižek\nJar City,Arnaldur Indriðason\nNiño,José Ángel\nMüller †,Günter ¶\nÆske,Søren',
    ],
    'euc-kr': [
      '채식주의자,한강\n소년이 온다,한강\n82년생 김지영,조남주\n살인자의 기억법,김영하',
      '난장이가 쏘아올린 작은 공,조세희',
    ],
    shift_jis: [
      'ノルウェイの森,村上春樹\nこころ,夏目漱石\n人間失格,太宰治\nキッチン,吉本ばなな',
      '吾輩は猫である,夏目漱石\n雪国,川端康成\n銀河鉄道の夜,宮沢賢治',
    ],
    gbk: [
      '三体,刘慈欣\n活着,余华\n围城,钱钟书\n平凡的世界,路遥\n红楼梦,曹雪芹\n我们仨,杨绛\n一个人的好天气,青山七惠\n人类简史：从动物到上帝,尤瓦尔·赫拉利',
    ],
    'windows-1251': [
      'Преступление и наказание,Фёдор Достоевский\nМастер и Маргарита,Михаил Булгаков\nАнна Каренина,Лев Толстой',
      'Кайдашева сім’я,Іван Нечуй-Левицький\nТіні забутих предків,Михайло Коцюбинський',
      'Под игото,Иван Вазов',
    ],
    macintosh: [
      'Les Misérables,Victor Hugo\nCien años de soledad,Gabriel García Márquez',
      'Spaß mit Büchern,Anja Groß',
      'Les Misérables,Victor Hugo\nThérèse Raquin,Émile Zola',
    ],
    'windows-1253': [
      'Βίος και πολιτεία του Αλέξη Ζορμπά,Νίκος Καζαντζάκης',
      'Το τρίτο στεφάνι,Κώστας Ταχτσής\nΕλένη,Γιώργος Σεφέρης',
    ],
    'windows-1256': ['موسم الهجرة إلى الشمال,الطيب صالح'],
  }
  it.each(Object.entries(LISTS).flatMap(([encoding, texts]) => texts.map((text) => [encoding, text] as const)))(
    'is guessed: %s, %s',
    (encoding, text) => {
      expect(decodeText(encodeAs(encoding, text))).toMatchObject({ text, encoding })
    },
  )

  it.each([
    ['windows-1250', 'Příběh inženýra lidských duší,Josef Škvorecký\nNesnesitelná lehkost bytí,Milan Kundera'],
    [
      'windows-1250',
      'Lalka,Bolesław Prus\nSto lat samotności,Gabriel García Márquez\nZbrodnia i kara — część pierwsza',
    ],
    ['windows-1254', 'Kırmızı Saçlı Kadın,Orhan Pamuk\nİnce Memed,Yaşar Kemal\nKürk Mantolu Madonna'],
    ['windows-1255', 'סיפור על אהבה וחושך,עמוס עוז'],
    ['big5', '臺北人,白先勇\n撒哈拉的故事,三毛\n傾城之戀,張愛玲'],
    ['euc-jp', 'ノルウェイの森,村上春樹\nこころ,夏目漱石\n人間失格,太宰治'],
    ['koi8-r', 'Преступление и наказание,Фёдор Достоевский\nМастер и Маргарита,Михаил Булгаков'],
  ])('is asked for, with samples, if it is not certain: %s', (encoding, text) => {
    const file = encodeAs(encoding, text)
    expect(reasonOf(file)).toMatch(/not certain.*Send encoding=.*\(.*\)/)
    expect(decodeText(file, encoding)).toMatchObject({ text, encoding, isDamaged: false })
  })

  it('is asked for with the likeliest first', () => {
    const order = (file: Uint8Array) =>
      [...`${reasonOf(file)}`.matchAll(/([\w-]+) \(/g)].map(([, encoding]) => encoding)
    const hebrew = encodeAs('windows-1255', 'סיפור על אהבה וחושך,עמוס עוז')
    expect(order(hebrew).slice(0, 3).sort()).toEqual(['windows-1251', 'windows-1253', 'windows-1255'])
    const texts = 'Title,Author\nLe Maître,Émile Zola\nforêt,José\n'
    const mixed = [...bytesOf(texts), ...encodeAs('windows-1252', 'été,\nnoël,\n')]
    expect(order(Uint8Array.from(mixed))[0]).toBe('utf-8')
  })

  it('is UTF-8 if 95 % of it is valid, in any language', () => {
    for (const line of ['채식주의자,한강', 'Преступление,Фёдор', '三体,刘慈欣', 'Coração,São Paulo']) {
      const text = `Title,Author,Subjects\n${`${line},#\n`.repeat(20)}`
      const count = [...text].filter((character) => character > '\x7f').length
      expect(read(damage(text, Math.floor(count / 19))).encoding).toBe('utf-8')
    }
  })

  const french = Array.from({ length: 20 }, (_, at) => `Le Maître ${at},Émile Zola,forêt #\n`)
  const damage = (text: string, count: number) => {
    const file = bytesOf(text)
    const places = [...file.keys()].filter((at) => file[at] === 0x23)
    for (const place of places.slice(0, count)) file[place] = 0xe9
    return file
  }

  it('is UTF-8 if nearly all of it is valid, with the rows of the bytes that are not', () => {
    const { encoding, entries } = read(damage(`Title,Author,Subjects\n${french.join('')}`, 3))
    expect(encoding).toBe('utf-8')
    expect(entries[19]).toMatchObject({ title: 'Le Maître 19', author: 'Émile Zola', losses: [] })
    const damaged = entries.filter(({ losses }) => losses.some(({ code }) => code === 'bad-bytes'))
    expect(damaged.map(({ line, losses }) => [line, losses])).toEqual(
      [2, 3, 4].map((line) => [line, [{ code: 'bad-bytes', field: 'Subjects' }]]),
    )
  })

  it('is UTF-8 with damage also in JSON', () => {
    const json = damage(libraryFile(...french.map((title) => ({ title: `${title.trim()}` }))), 1)
    expect(read(json)).toMatchObject({
      encoding: 'utf-8',
      entries: [{ losses: [{ code: 'bad-bytes', field: 'title' }] }, ...Array.from({ length: 19 }, () => ({}))],
    })
  })

  it('is asked for if one half of the file is UTF-8', () => {
    const half = [...bytesOf(french.join('')), ...encodeAs('windows-1252', french.join(''))]
    expect(reasonOf(Uint8Array.from([...bytesOf('Title,Author,Subjects\n'), ...half]))).toMatch(/not certain.*utf-8/)
  })

  it('is that of the member if the file is not UTF-8', () => {
    expect(decodeText(western, 'iso-8859-2')).toMatchObject({ text: 'Café,ŕ', encoding: 'iso-8859-2' })
    expect(decodeText(bytesOf('é'), 'windows-1252')).toMatchObject({ text: 'é', encoding: 'utf-8' })
    const escaped = bytesOf('\x1b$B%N%k\x1b(B')
    expect(decodeText(escaped, 'iso-2022-jp')).toMatchObject({ text: 'ノル', encoding: 'iso-2022-jp' })
  })

  it('is named in the result', () => {
    const row = bytes(...bytesOf('Title,Author\n'), ...korean)
    expect(read(row)).toMatchObject({ encoding: 'euc-kr', entries: [{ title: '채식주의자', author: '한강' }] })
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

  it('is refused by name: the library of Readwise Reader', () => {
    // https://github.com/windchime-yk/readwise-to-raindrop, README.md
    const header = 'Title,URL,ID,Document tags,Saved date,Reading progress,Location,Seen'
    expect(reasonOf(`${header}\nA,https://example.com,01g,[],2022-11-06 04:33:50+00:00,0,new,True\n`)).toMatch(
      'Readwise Reader',
    )
  })

  it.each([
    [
      'Readwise Reader',
      'id,url,title,author,source,category,location,tags,site_name,word_count,reading_progress,source_url',
      '01g,https://example.com,A,B,web,article,new,{},Example,900,0.5,https://example.com',
    ],
    ['Pocket', 'title,url,time_added,tags,status', 'A,https://example.com,1667709213,,unread'],
    ['Instapaper', 'URL,Title,Selection,Folder,Timestamp', 'https://example.com,A,,Unread,1667709213'],
    [
      'Raindrop',
      'id,title,note,excerpt,url,folder,tags,created,cover,highlights,favorite',
      '1,A,,,https://example.com,Unsorted,,2022-11-06T04:33:50Z,,,false',
    ],
  ])('is refused by name: pages of %s', (service, header, row) => {
    expect(reasonOf(`${header}\n${row}\n`)).toMatch(new RegExp(`web pages.*${service}`))
  })

  it('is refused if it is laid out with blanks, so that titles continue on further lines', () => {
    const rows = [
      'id;title     ;author    ;isbn',
      '7 ;A long    ;Mina Oh   ;9788936434120',
      '  ;title     ;          ;             ',
    ]
    expect(reasonOf(`${rows.join('\n')}\n`)).toMatch('laid out with blanks')
    // Without further lines, nothing is cut.
    expect(read(rows.slice(0, 2).join('\n')).entries).toMatchObject([{ title: 'A long', author: 'Mina Oh' }])
  })

  it.each(['Book,Location,Highlight\nSail Far,Page 3,first words\n', '책,하이라이트,Highlight\nA,b,c\n'])(
    'is refused if it has highlights without a title: %s',
    (file) => expect(reasonOf(file)).toMatch(/highlights.*Highlight.*Title.*Author/),
  )

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
