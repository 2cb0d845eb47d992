/** Cuts a text without splitting a surrogate pair. */
export const truncate = (text: string, max: number) =>
  text.length <= max ? text : text.slice(0, max).replace(/[\ud800-\udbff]$/, '')
