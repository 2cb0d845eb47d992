/** A text without characters that XML 1.0 forbids or a terminal interprets. */
export const toPlain = (text: string) => text.toWellFormed().replace(/(?![\t\n\r])[\p{Cc}\ufffe\uffff]/gu, '')
