/** The lines of the report, for the file with the results: the docs are compared with them. */
export const printed: string[] = []

export const print = (text: string) => {
  printed.push(...text.split('\n'))
  console.log(text)
}
