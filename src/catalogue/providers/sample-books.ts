/** The static file with the books. */
export const SAMPLE_FILE = 'sample-books.json'

export type SampleBook = {
  title: string
  author: string
  publisher: string
  itemPage: number
  bestSeller?: true
  newSpecial?: true
  /** ISBN-13. */
  isbn?: string
}

// Real books, each with the publisher and page count of one real edition.
export const BOOKS: SampleBook[] = [
  { title: '소년이 온다', author: '한강', publisher: '창비', itemPage: 216, bestSeller: true, isbn: '9788936434120' },
  { title: '채식주의자', author: '한강', publisher: '창비', itemPage: 276, bestSeller: true, isbn: '9788936433598' },
  { title: '작별하지 않는다', author: '한강', publisher: '문학동네', itemPage: 332, bestSeller: true },
  { title: '난장이가 쏘아올린 작은 공', author: '조세희', publisher: '이성과힘', itemPage: 351 },
  { title: '광장/구운몽', author: '최인훈', publisher: '문학과지성사', itemPage: 382 },
  { title: '그 많던 싱아는 누가 다 먹었을까', author: '박완서', publisher: '웅진지식하우스', itemPage: 360 },
  { title: '모순', author: '양귀자', publisher: '쓰다', itemPage: 308, bestSeller: true },
  { title: '고래', author: '천명관', publisher: '문학동네', itemPage: 455 },
  { title: '7년의 밤', author: '정유정', publisher: '은행나무', itemPage: 524 },
  { title: '종의 기원', author: '정유정', publisher: '은행나무', itemPage: 384 },
  { title: '살인자의 기억법', author: '김영하', publisher: '복복서가', itemPage: 224 },
  { title: '여행의 이유', author: '김영하', publisher: '복복서가', itemPage: 260 },
  { title: '82년생 김지영', author: '조남주', publisher: '민음사', itemPage: 192 },
  { title: '아몬드', author: '손원평', publisher: '창비', itemPage: 264, isbn: '9788936434267' },
  { title: '쇼코의 미소', author: '최은영', publisher: '문학동네', itemPage: 296 },
  { title: '밝은 밤', author: '최은영', publisher: '문학동네', itemPage: 344 },
  { title: '대도시의 사랑법', author: '박상영', publisher: '창비', itemPage: 344 },
  { title: '일의 기쁨과 슬픔', author: '장류진', publisher: '창비', itemPage: 236 },
  { title: '알로하, 나의 엄마들', author: '이금이', publisher: '창비', itemPage: 392 },
  {
    title: '달러구트 꿈 백화점',
    author: '이미예',
    publisher: '팩토리나인',
    itemPage: 300,
    bestSeller: true,
    isbn: '9791165341909',
  },
  { title: '불편한 편의점', author: '김호연', publisher: '나무옆의자', itemPage: 268, bestSeller: true },
  { title: '지구 끝의 온실', author: '김초엽', publisher: '자이언트북스', itemPage: 392 },
  { title: '하얼빈', author: '김훈', publisher: '문학동네', itemPage: 308, newSpecial: true },
  { title: '아버지의 해방일지', author: '정지아', publisher: '창비', itemPage: 268, newSpecial: true },
  { title: '급류', author: '정대건', publisher: '민음사', itemPage: 300, newSpecial: true },
  { title: '메리골드 마음 세탁소', author: '윤정은', publisher: '북로망스', itemPage: 272, newSpecial: true },
  { title: '혼모노', author: '성해나', publisher: '창비', itemPage: 368, newSpecial: true },
  { title: '절창', author: '구병모', publisher: '문학동네', itemPage: 352, newSpecial: true },
  { title: '꽃을 보듯 너를 본다', author: '나태주', publisher: '지혜', itemPage: 184 },
  { title: '라틴어 수업', author: '한동일', publisher: '흐름출판', itemPage: 356 },
  { title: '나는 나로 살기로 했다', author: '김수현', publisher: '클레이하우스', itemPage: 312 },
  { title: '지적 대화를 위한 넓고 얕은 지식 1', author: '채사장', publisher: '웨일북', itemPage: 388 },

  {
    title: '데미안',
    author: '헤르만 헤세',
    publisher: '민음사',
    itemPage: 239,
    bestSeller: true,
    isbn: '9788937460449',
  },
  { title: '인간 실격', author: '다자이 오사무', publisher: '민음사', itemPage: 191 },
  { title: '나미야 잡화점의 기적', author: '히가시노 게이고', publisher: '현대문학', itemPage: 456 },
  { title: '맡겨진 소녀', author: '클레어 키건', publisher: '다산책방', itemPage: 104 },
  { title: '도시와 그 불확실한 벽', author: '무라카미 하루키', publisher: '문학동네', itemPage: 768, newSpecial: true },
  { title: 'コンビニ人間', author: '村田沙耶香', publisher: '文藝春秋', itemPage: 176 },
  { title: 'Norwegian Wood', author: 'Haruki Murakami', publisher: 'Vintage', itemPage: 296, isbn: '9780375704024' },
  { title: '三体', author: '刘慈欣', publisher: '重庆出版社', itemPage: 302, isbn: '9787536692930' },
  { title: '活着', author: '余华', publisher: '作家出版社', itemPage: 191 },
  { title: '围城', author: '钱锺书', publisher: '人民文学出版社', itemPage: 359 },
  { title: 'A hora da estrela', author: 'Clarice Lispector', publisher: 'Rocco', itemPage: 88 },
  { title: 'Ensaio sobre a cegueira', author: 'José Saramago', publisher: 'Companhia das Letras', itemPage: 312 },
  { title: 'Torto Arado', author: 'Itamar Vieira Junior', publisher: 'Todavia', itemPage: 264, bestSeller: true },
  { title: 'O avesso da pele', author: 'Jeferson Tenório', publisher: 'Companhia das Letras', itemPage: 192 },
  { title: 'Cien años de soledad', author: 'Gabriel García Márquez', publisher: 'Sudamericana', itemPage: 351 },
  { title: 'L’Étranger', author: 'Albert Camus', publisher: 'Gallimard', itemPage: 159 },
  {
    title: 'Le Petit Prince',
    author: 'Antoine de Saint-Exupéry',
    publisher: 'Gallimard',
    itemPage: 97,
    isbn: '9782070612758',
  },
  { title: 'Die Verwandlung', author: 'Franz Kafka', publisher: 'dtv', itemPage: 119 },
  { title: 'Il nome della rosa', author: 'Umberto Eco', publisher: 'Bompiani', itemPage: 503 },
  { title: 'Pride and Prejudice', author: 'Jane Austen', publisher: 'Modern Library', itemPage: 279 },
  {
    title: 'The Great Gatsby',
    author: 'F. Scott Fitzgerald',
    publisher: 'Scribner',
    itemPage: 180,
    isbn: '9780743273565',
  },
  {
    title: '1984',
    author: 'George Orwell',
    publisher: 'Signet Classics',
    itemPage: 328,
    bestSeller: true,
    isbn: '9780451524935',
  },
  { title: 'The Catcher in the Rye', author: 'J. D. Salinger', publisher: 'Little, Brown and Company', itemPage: 277 },
  { title: 'Things Fall Apart', author: 'Chinua Achebe', publisher: 'Anchor Books', itemPage: 209 },
  {
    title: 'To Kill a Mockingbird',
    author: 'Harper Lee',
    publisher: 'Harper Perennial',
    itemPage: 336,
    isbn: '9780061120084',
  },
  { title: 'Beloved', author: 'Toni Morrison', publisher: 'Vintage', itemPage: 324 },
  {
    title: 'Project Hail Mary',
    author: 'Andy Weir',
    publisher: 'Ballantine Books',
    itemPage: 496,
    bestSeller: true,
    isbn: '9780593135204',
  },
  {
    title: 'Tomorrow, and Tomorrow, and Tomorrow',
    author: 'Gabrielle Zevin',
    publisher: 'Knopf',
    itemPage: 416,
    newSpecial: true,
  },
  { title: 'James', author: 'Percival Everett', publisher: 'Doubleday', itemPage: 320, newSpecial: true },
  {
    title: 'Intermezzo',
    author: 'Sally Rooney',
    publisher: 'Farrar, Straus and Giroux',
    itemPage: 464,
    newSpecial: true,
  },
]
