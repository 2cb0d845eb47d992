import { expect, it } from 'vitest'
import { parseColumns } from '../../src/transfer/reader/sqlite/schema'
import { expectEqual } from '../support/statistics/compare'
import { md5Of, writeDatabase } from '../support/statistics/write-file'

const SELECT = `insert into book (id, title, authors, md5) values (7, 'Demian', 'Hesse', '${md5Of(7)}');`
it.each<[string, string, string, string?, string?]>([
  [
    'of August 2017, in which a book has one row',
    `create table book (id integer primary key autoincrement, title text, authors text, md5 text);
     create table page_stat (id_book integer primary key, page integer not null, start_time integer not null,
       period integer not null, unique (page, start_time), foreign key (id_book) references book(id));`,
    `${SELECT} insert into page_stat values (7, 3, 1500000000, 45);`,
    'page_stat',
    'period',
  ],
  [
    'until October 2020',
    `create table book (id integer primary key autoincrement, title text, authors text, md5 text);
     create table page_stat (id_book integer, page integer not null, start_time integer not null,
       period integer not null, unique (page, start_time), foreign key (id_book) references book(id));
     create table info (version integer);`,
    `${SELECT} insert into page_stat values (7, 3, 1500000000, 45), (7, 4, 1500000045, 50);`,
    'page_stat',
    'period',
  ],
  [
    'whose column was renamed, and to which one was added',
    `create table book (id integer primary key autoincrement, title text, authors text, md5 text);
     create table page_stat (id_book integer, page integer not null, start_time integer not null, period integer not null);`,
    `${SELECT} insert into page_stat values (7, 3, 1500000000, 45);
     alter table page_stat rename column period to duration; alter table page_stat add column total_pages integer;
     alter table page_stat rename to page_stat_data; insert into page_stat_data values (7, 4, 1500000000, 45, 9);`,
  ],
  [
    'whose older rows lack columns that were added',
    `create table book (id integer primary key, title text, md5 text);
     create table page_stat_data (id_book integer, page integer, start_time integer);`,
    `insert into book values (7, 'Demian', '${md5Of(7)}'); insert into page_stat_data values (7, 3, 1500000000);
     alter table book add column authors text; alter table page_stat_data add column duration integer;
     insert into page_stat_data values (7, 4, 1500000000, 45);`,
  ],
  [
    'with other columns, orders, quotes and comments',
    `create table "Book" (-- id, title
       [md5] text /* md5, title text) */, "last ""open"" (" real default (1 + (2)), 'title' varchar(10) check (title <> ','),
       \`id\` integer not null, authors, constraint pk primary key ("id" asc) on conflict abort);
     create table "page_stat_data" (x blob, duration integer, "start_time" int, page integer, id_book, y text,
       unique (id_book, page, start_time));`,
    `${SELECT} insert into page_stat_data values (x'00', 45, 1500000000, 3, 7, 'y'), (null, 46, 1500000000, 4, 7, null);`,
  ],
  [
    'whose identifiers are no rowids',
    `create table book (id int primary key, title text, authors text, md5 text);
     create table page_stat_data (id_book int, page int, start_time int, duration int);`,
    `insert into book values (5, 'Other', '', '${md5Of(5)}'); ${SELECT}
     insert into page_stat_data values (7, 3, 1500000000, 45), (1, 3, 1500000000, 45), (5, 1, 1600000000, 9);`,
  ],
])('reads tables %s', (_, schema, fill, ...table) => {
  expectEqual(
    writeDatabase((database) => database.exec(`${schema} ${fill}`)),
    ...table.filter((name) => name !== undefined),
  )
})

it.each<[string, string[], number?]>([
  ['create table a (id integer primary key, b)', ['id', 'b'], 0],
  ['create table a (b, id integer constraint c not null primary key autoincrement)', ['b', 'id'], 1],
  ['create table a (id integer primary key desc)', ['id']],
  ['create table a (id integer unsigned primary key)', ['id']],
  ['create table a (id int primary key)', ['id']],
  ["create table a (id integer default 'x primary key')", ['id']],
  ['create table a (b, id integer, primary key (id desc))', ['b', 'id'], 1],
  ['create table a (b, id integer, primary key (id, b))', ['b', 'id']],
  ['create table a (id integer, primary key (id), "primary" text', ['id'], 0],
  ['create table a ("primary" text, [id] integer, unique (id), primary key ([id]))', ['primary', 'id'], 1],
])('finds the columns and the rowid of %s', (sql, columns, rowidAt) => {
  const found = parseColumns(sql)
  expect([[...found.columns.keys()], found.rowidAt]).toEqual([columns, rowidAt])
})
