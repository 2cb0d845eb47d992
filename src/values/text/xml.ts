const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
/** Escapes what XML would take for markup in a text between tags. */
export const escapeXml = (text: string) => text.replace(/[&<>]/g, (letter) => ESCAPES[letter] ?? letter)
