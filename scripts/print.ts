// Output of all scripts. biome.json forbids `console` elsewhere in scripts.

const escapeAll = (text: string, pattern: RegExp) =>
  text.replace(pattern, (found) =>
    found
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )

/**
 * A text from a file, a member or a service, for a line: escapes, as in JSON, what could end the line, control the
 * terminal, or change the order of characters.
 */
export const printable = (text: string) => escapeAll(text, /[\p{Cc}\p{Cf}\u2028\u2029]/gu)

/** The same for a text of several lines. */
const toLines = (text: string) => escapeAll(text, /(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/gu)

export const print = (text: string) => console.log(toLines(text))
export const printError = (text: string) => console.error(toLines(text))
