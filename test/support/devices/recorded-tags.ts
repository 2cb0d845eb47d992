type Request = { headers: [name: string, value: string][] }

/**
 * Replaces the tags in recorded requests, which are those of the server that was recorded: each by the one that answers had
 * when it was first sent back.
 */
export const createTags = () => {
  const tags = new Map<string, string>()
  let latest = ''
  const replace = (tag: string) => {
    if (!tags.has(tag)) tags.set(tag, latest)
    return tags.get(tag) ?? ''
  }
  return {
    answered: (tag: string | null | undefined) => {
      latest = tag ?? latest
    },
    replaceIn: <R extends Request>(request: R): R => ({
      ...request,
      headers: request.headers.map(([name, value]) => [name, name === 'If-Match' ? replace(value) : value]),
    }),
  }
}
