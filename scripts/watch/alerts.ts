// The alerts of docs/operations.md. A test compares the two tables.

/** What a request of /health has found: why the service is not healthy, or what it warns of. */
export type Health = { failure?: string; warnings?: string[] }
export type DatabaseState = { binding: string; bytes: number; overduePurges: number }
/** A line that the service logs, as far as alerts read it. */
export type LogLine = { message?: string; stack?: string; route?: string; status?: number; sampleRate?: number }
export type LogState = {
  /** Lines of the last WINDOW_MS, the latest first. */
  recent: LogLine[]
  /** 429 responses of the last day; none if only recent lines are known. */
  refusals: LogLine[]
}

export type Watched = { health: Health[]; databases: DatabaseState[]; log: LogState }
export type Source = keyof Watched
/** What can be looked at; undefined from one that has nothing to look at. */
export type Sources = { [Name in Source]?: () => Promise<Watched[Name] | undefined> }

type Alert<Name extends Source> = {
  source: Name
  /** Completes "Fires if …". */
  fires: string
  remedy: string
  /** A line for each problem. */
  find: (watched: Watched[Name]) => string[]
}

export const WINDOW_MS = 300_000
export const DAY_MS = 86_400_000
const GIGABYTE = 1e9
const MAX_BYTES = 5 * GIGABYTE
const MAX_ERRORS = 0.01
const MANY_REFUSALS = 50
const UNUSUAL = 10

const SETTINGS = ['configuration:', 'UNAVAILABLE: NEW_MEMBERS', 'UNAVAILABLE: mail:']
const GUESSED = ['/login', '/email/join', '/email/password-reset', '/password-reset']

const isRequest = ({ message }: LogLine) => message === 'request'
const isGuess = ({ route = '', status }: LogLine) => status === 429 && GUESSED.includes(route)
/** How many requests these lines stand for. */
const countRequests = (lines: LogLine[]) => lines.reduce((sum, { sampleRate = 1 }) => sum + 1 / sampleRate, 0)

const from = <Name extends Source>(source: Name, alert: Omit<Alert<Name>, 'source'>): Alert<Name> => ({
  source,
  ...alert,
})

export const ALERTS = {
  health: from('health', {
    fires: '`/health` fails twice in a row, or has `warnings`',
    remedy:
      'its message names what does not answer; after `ECONNREFUSED`, start the service; without a sweep, the cron trigger has stopped, or every sweep fails',
    find: (answers) => {
      const { failure, warnings = [] } = answers.at(-1) ?? {}
      return failure === undefined ? warnings : [`/health: ${failure}`]
    },
  }),
  settings: from('log', {
    fires: 'a line starts with `configuration:`, `UNAVAILABLE: NEW_MEMBERS` or `UNAVAILABLE: mail:`',
    remedy: 'the line says what to set; for mails, check `MAIL_FROM` and, when self-hosting, `SMTP_URL`',
    find: ({ recent }) => {
      const messages = recent.map(({ message = '' }) => message)
      return [...new Set(messages.filter((message) => SETTINGS.some((start) => message.startsWith(start))))]
    },
  }),
  errors: from('log', {
    fires: 'over 1 % of the requests in 5 minutes have a 5xx response, or as many lines a `stack`',
    remedy: 'read the lines with the same `requestId`; after a deployment, roll back',
    find: ({ recent }) => {
      const requests = recent.filter(isRequest)
      const count = countRequests(requests)
      const failed = countRequests(requests.filter(({ status = 0 }) => status >= 500))
      const stacks = recent.filter(({ stack }) => stack !== undefined).length
      if (Math.max(failed, stacks) <= MAX_ERRORS * count) return []
      return [`of ${Math.round(count)} requests, ${Math.round(failed)} had a 5xx response; ${stacks} lines with stack`]
    },
  }),
  guessing: from('log', {
    fires:
      '`/login`, `/email/join`, `/email/password-reset` and `/password-reset` respond with 429 over 50 times in 5 minutes, and ten times as often as on average of a day',
    remedy: 'someone is guessing passwords or codes, which limits hold back',
    find: ({ recent, refusals }) => {
      const count = countRequests(recent.filter(isGuess))
      const usual = countRequests(refusals.filter(isGuess)) * (WINDOW_MS / DAY_MS)
      return count > Math.max(MANY_REFUSALS, UNUSUAL * usual) ? [`${Math.round(count)} in five minutes`] : []
    },
  }),
  purges: from('databases', {
    fires: 'a database has data of members who withdrew over a day ago',
    remedy: '`purge:` and `purging member` in the log say why',
    find: (databases) =>
      databases
        .filter(({ overduePurges }) => overduePurges > 0)
        .map(({ binding, overduePurges }) => `${binding}: ${overduePurges} members`),
  }),
  size: from('databases', {
    fires: 'a database has over 5 of 10 GB',
    remedy: 'add a slot',
    find: (databases) =>
      databases
        .filter(({ bytes }) => bytes > MAX_BYTES)
        .map(({ binding, bytes }) => `${binding}: ${(bytes / GIGABYTE).toFixed(1)} GB`),
  }),
}

/**
 * Evaluates all alerts whose source is given, each of which is read once.
 * @returns a line for each problem, also for a source that cannot be read; and the alerts that were left out
 */
export const evaluate = async (sources: Sources) => {
  const read = async (source: Source) => {
    const watched = await sources[source]?.()
    const alerts = Object.entries(ALERTS).filter(([, alert]) => alert.source === source)
    if (watched === undefined) return { problems: [], leftOut: alerts.map(([name]) => name) }
    const problems = alerts.flatMap(([name, { find, remedy }]) =>
      (find as (watched: unknown) => string[])(watched).map((problem) => `${name}: ${problem} (${remedy})`),
    )
    return { problems, leftOut: [] }
  }
  const all = [...new Set(Object.values(ALERTS).map(({ source }) => source))]
  const results = await Promise.all(
    all.map((source) =>
      read(source).catch((error: Error) => ({
        problems: [`${source}: cannot be read: ${error.message}`],
        leftOut: [],
      })),
    ),
  )
  return {
    problems: results.flatMap(({ problems }) => problems),
    leftOut: results.flatMap(({ leftOut }) => leftOut),
  }
}
