// Arguments of commands. Light, so that help comes at once.
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { print, printError } from './print.ts'

/** Prints the usage and exits, if the arguments ask for it. Call it before anything else. */
export const exitOnHelp = (usage: string, args = process.argv.slice(2)) => {
  if (!args.some((each) => each === '--help' || each === '-h')) return
  print(`Usage: ${usage}`)
  process.exit(0)
}

export function failWithUsage(usage: string): never {
  printError(`Usage: ${usage}`)
  process.exit(2)
}

/** Reads the arguments. Exits with a usage message if one is unknown, or if it is asked for. */
export const parseOptions = <Config extends ParseArgsConfig>(config: Config, usage: string) => {
  exitOnHelp(usage, config.args ? [...config.args] : undefined)
  try {
    return parseArgs(config)
  } catch (error) {
    return failWithUsage(`${usage}\n${(error as Error).message}`)
  }
}
