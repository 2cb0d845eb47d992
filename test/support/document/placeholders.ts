import { PLACEHOLDERS } from '../../../src/openapi/examples.ts'

type Name = keyof typeof PLACEHOLDERS

/** Matches values of the form of a placeholder: any word characters in place of its letters and digits. */
const toPattern = (placeholder: string) =>
  placeholder.replace(/[A-Za-z0-9]+|[^A-Za-z0-9]/g, (part) =>
    /^[A-Za-z0-9]/.test(part) ? `[\\w-]{${part.length}}` : `\\${part}`,
  )

/** An identifier may be a number. */
const isText = (value: unknown) => typeof value === 'string' || typeof value === 'number'

/** The actual values of the placeholders, collected while the examples are executed in order. */
export const createPlaceholders = () => {
  const actual = new Map<string, string>()

  /** Takes the actual values from a response, where its example has placeholders. */
  const learn = (example: unknown, response: unknown) => {
    if (isText(example) && isText(response)) {
      for (const placeholder of Object.values(PLACEHOLDERS).filter((value) => String(example).includes(value))) {
        const [value] = String(response).match(toPattern(placeholder)) ?? []
        if (value) actual.set(placeholder, value)
      }
    } else if (example && response && typeof example === 'object' && typeof response === 'object') {
      const received = response as Record<string, unknown>
      for (const [key, value] of Object.entries(example)) learn(value, received[key])
    }
  }

  /** Takes the last code of this form from the texts of mails, in which it is a line of its own. */
  const learnCode = (name: Name, texts: string) => {
    const value = texts.match(new RegExp(`^${toPattern(PLACEHOLDERS[name])}$`, 'gm'))?.at(-1)
    if (!value) throw new Error(`No mail has a code of the form ${PLACEHOLDERS[name]}`)
    actual.set(PLACEHOLDERS[name], value)
  }

  /** Replaces the placeholders whose values are known. */
  const fill = (text: string) =>
    [...actual].reduce((filled, [placeholder, value]) => filled.replaceAll(placeholder, value), text)

  return { learn, learnCode, fill }
}
