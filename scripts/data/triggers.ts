/** The statements of triggers.sql by the name of their trigger, each on one line and without comments. */
export const parseTriggers = (source: string) => {
  const text = source
    .replaceAll(/^ *--.*$/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return new Map(text.split(/ (?=CREATE TRIGGER )/).map((statement) => [statement.split(' ', 3)[2] ?? '', statement]))
}

/** The statements that replace the triggers of a database, given by name, with those of triggers.sql. */
export const toChanges = (migrated: Map<string, string>, wanted: Map<string, string>) => {
  const dropped = [...migrated].filter(([name, statement]) => wanted.get(name) !== statement)
  const created = [...wanted].filter(([name, statement]) => migrated.get(name) !== statement)
  return [...dropped.map(([name]) => `DROP TRIGGER ${name};`), ...created.map(([, statement]) => statement)]
}
