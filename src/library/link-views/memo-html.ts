// The HTML of memos on pages and in feeds. Members may have written anything: HTMLRewriter only splits it into tags and
// texts, and what is returned is written anew from the lists below.
import { decodeEntities } from '../../values/text/html'
import { toPlain } from '../../values/text/plain'

const BLOCKS = ['p', 'blockquote', 'ul', 'ol', 'li', 'pre']
/** What is written for an element. All others are written as their text. */
const NAMES: Record<string, string> = {
  ...{ p: 'p', div: 'p', h1: 'p', h2: 'p', h3: 'p', h4: 'p', h5: 'p', h6: 'p' },
  ...{ blockquote: 'blockquote', ul: 'ul', ol: 'ol', li: 'li', pre: 'pre' },
  ...{ b: 'strong', strong: 'strong', i: 'em', em: 'em', cite: 'em', code: 'code', del: 'del', s: 'del' },
  ...{ q: 'q', sub: 'sub', sup: 'sup' },
}
/** Elements inside deeper ones are written as their text. */
const MAX_DEPTH = 20

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\r': '&#13;' }
/** Escapes a text for HTML and XML. */
export const escapeMarkup = (text: string) => text.replace(/[&<>"\r]/g, (letter) => ENTITIES[letter] ?? letter)

const toHttpUrl = (text: string | null) => {
  const url = text && URL.canParse(text) ? new URL(text) : undefined
  return url && /^https?:$/.test(url.protocol) ? url.href : undefined
}

/** Writes balanced HTML, and the same as text. */
const createWriter = () => {
  let html = ''
  let text = ''
  // Instead of looking at the end of the text, which V8 would copy for it each time.
  let isNewLine = true
  const open: string[] = []
  const closeTo = (depth: number) => {
    while (open.length > depth) {
      const name = open.pop()
      html += `</${name}>`
      if (name && BLOCKS.includes(name)) breakLine()
    }
  }
  const breakLine = () => {
    if (!isNewLine) text += '\n'
    isNewLine = true
  }
  return {
    write: (words: string) => {
      html += escapeMarkup(words)
      // Not the blanks between blocks.
      if (isNewLine && !words.trim()) return
      text += words
      isNewLine = false
    },
    writeBreak: () => {
      html += '<br>'
      text += '\n'
      isNewLine = true
    },
    writeTag: (tag: string) => {
      html += tag
    },
    isIn: (...names: string[]) => open.some((name) => names.includes(name)),
    /** Returns a function that closes the element and what is open in it, or undefined if it must not be here. */
    open: (name: string, attributes = '') => {
      if (open.length >= MAX_DEPTH) return undefined
      if (BLOCKS.includes(name)) {
        // As browsers do: a block ends a paragraph, and an item the one before it.
        const paragraph = open.indexOf('p')
        if (paragraph >= 0) closeTo(paragraph)
        const list = open.findLastIndex((each) => each === 'ul' || each === 'ol')
        if (name === 'li' && open.length > list + 1) closeTo(list + 1)
        breakLine()
      }
      html += `<${name}${attributes}>`
      const depth = open.push(name) - 1
      return () => {
        if (open[depth] === name) closeTo(depth)
      }
    },
    end: () => {
      closeTo(0)
      return { html, text: text.trim() }
    },
  }
}

const writeText = (content: string) => {
  const writer = createWriter()
  writer.open('p')
  for (const [index, line] of content.split(/\r\n?|\n/).entries()) {
    if (index > 0) writer.writeBreak()
    writer.write(toPlain(decodeEntities(line)))
  }
  return writer.end()
}

const writeMarkup = async (content: string, images: string) => {
  const writer = createWriter()
  let pending = ''
  const flush = () => {
    const text = toPlain(decodeEntities(pending))
    writer.write(writer.isIn('pre') ? text : text.replace(/\s+/g, ' '))
    pending = ''
  }
  const writeImage = (element: Element) => {
    const source = element.getAttribute('src') ?? ''
    const label = toPlain(decodeEntities(element.getAttribute('alt') ?? ''))
    const isOwn = source.startsWith(images) && /^[\w-]+\.\w+$/.test(source.slice(images.length))
    if (isOwn) writer.writeTag(`<img src="${escapeMarkup(source)}" alt="${escapeMarkup(label)}" loading="lazy">`)
    else writer.write(label)
  }
  const open = (element: Element) => {
    const { tagName } = element
    if (tagName === 'a') {
      const href = writer.isIn('a') ? undefined : toHttpUrl(decodeEntities(element.getAttribute('href') ?? ''))
      return href && writer.open('a', ` href="${escapeMarkup(href)}" rel="nofollow noopener"`)
    }
    const name = Object.hasOwn(NAMES, tagName) && NAMES[tagName]
    return name && (name !== 'li' || writer.isIn('ul', 'ol')) && writer.open(name)
  }
  const onElement = (element: Element) => {
    flush()
    if (element.tagName === 'br') return writer.writeBreak()
    if (element.tagName === 'img') return writeImage(element)
    const close = open(element)
    if (!close) return
    element.onEndTag(() => {
      flush()
      close()
    })
  }
  const rewriter = new HTMLRewriter().on('*', { element: onElement }).onDocument({
    text: (chunk) => {
      pending += chunk.text
    },
    comments: flush,
  })
  await rewriter.transform(new Response(content)).text()
  flush()
  return writer.end()
}

/** The most tags of a memo, and of a response, that are parsed: each costs some microseconds. */
const MAX_TAGS = { memo: 2000, response: 10_000 }

/**
 * Shows the memos of a response, as HTML and as text: a few elements, links to http(s), and the member's own images.
 * Without tags, or with too many, a memo is shown as it is, with its line breaks.
 * @param images what the addresses of the member's images begin with
 */
export const createMemoWriter = (images: string) => {
  let left = MAX_TAGS.response
  return async (content: string) => {
    const source = content.replace(/<(?![a-z/!?])/gi, '&lt;')
    const tags = source.split('<').length - 1
    if (tags === 0 || tags > Math.min(MAX_TAGS.memo, left)) return writeText(content)
    left -= tags
    // HTMLRewriter rejects what browsers do not parse alike, such as a style in a select.
    return writeMarkup(source, images).catch(() => writeText(content))
  }
}
