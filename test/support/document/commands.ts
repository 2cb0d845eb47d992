import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

/** A command that a document tells the operator to run, in one line unless it is quoted over several. */
export type Command = { document: string; heading: string; text: string }

/** A block of code, a heading, or code within a paragraph. */
const PARTS = /^(?<indent> *)```(?<language>\w*)\n(?<block>[\s\S]*?)^ *```|^#+ (?<heading>.+)$|`(?<inline>[^`]+)`/gm
const COMMAND = /^(?:[A-Z_]+=\S+ )?(?:npm run|npx|openssl|rclone|git) /

const isComplete = (lines: string) => spawnSync('bash', ['-n'], { input: lines }).status === 0

/** Splits a script into its commands, without comments. */
const splitScript = (script: string) => {
  const commands: string[] = []
  let text = ''
  for (const line of script.split('\n').filter((each) => each !== '' && !each.startsWith('#'))) {
    text += text ? `\n${line}` : line.replace(/ +# .*$/, '')
    if (!isComplete(text)) continue
    commands.push(text)
    text = ''
  }
  if (text) throw new Error(`Not a complete command: ${text}`)
  return commands
}

/** All commands of a document, in order. */
export const readCommands = (path: string): Command[] => {
  const document = basename(path)
  let heading = ''
  return [...readFileSync(path, 'utf8').matchAll(PARTS)].flatMap(({ groups = {} }) => {
    const { indent, language, inline, heading: next } = groups
    const block = groups.block?.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
    if (next) heading = next
    const inlined = inline?.replaceAll(/\s+/g, ' ') ?? ''
    const texts = language === 'sh' && block ? splitScript(block) : COMMAND.test(inlined) ? [inlined] : []
    return texts.map((text) => ({ document, heading, text }))
  })
}
