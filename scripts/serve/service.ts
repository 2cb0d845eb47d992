// The service in workerd: its data, its hourly sweep, and what it logs.
import { join } from 'node:path'
import { Log, LogLevel, Miniflare } from 'miniflare'
import { printError } from '../print.ts'
import { createMailer } from './mailer.ts'
import { migrateData } from './migrate.ts'
import { endWorkerd, forgetWorkerd, recordWorkerd } from './processes.ts'
import { warnOfFullDisk } from './space.ts'
import { defineWorkers } from './workers.ts'

const HOUR_MS = 3_600_000

type Options = { data: string; service: Record<string, string>; smtpUrl: string | undefined }

/**
 * Starts workerd, and applies the migrations that the data lacks.
 * @throws Error if one cannot be applied
 */
export const startService = async ({ data, service: settings, smtpUrl }: Options) => {
  const { name, hostName, slots, workers } = defineWorkers(data, settings, createMailer(smtpUrl))
  await endWorkerd(data)
  await migrateData(slots, data, settings.ADDRESS_KEY)
  let target: URL | undefined
  const miniflare = new Miniflare({
    workers,
    resourcePersistencePath: join(data, 'v3'),
    enableDevRegistry: false,
    cf: false,
    logRequests: false,
    telemetry: { enabled: false },
    log: new Log(LogLevel.WARN),
    // What the service logs is JSON already.
    handleStructuredLogs: ({ message }) => process.stdout.write(`${message}\n`),
    unsafeHandleRuntimeRestart: () => onStart(),
  })
  /** Also after a crash, after which workerd listens on another port. */
  const onStart = async () => {
    target = await miniflare.unsafeGetDirectURL(name)
    recordWorkerd(data)
  }
  await onStart()

  let isStopping = false
  const sweep = async () => {
    warnOfFullDisk(data)
    try {
      const { ok, status } = await fetch(await miniflare.unsafeGetDirectURL(hostName))
      if (!ok) throw new Error(`status ${status}`)
    } catch (error) {
      // The next start repeats what the end of this process interrupts.
      if (!isStopping) printError(`The sweep failed: ${(error as Error).message}`)
    }
  }
  const timer = setInterval(sweep, HOUR_MS)
  return {
    target: () => target as URL,
    /** Deletes what has expired, as every hour. */
    sweep,
    stop: async () => {
      isStopping = true
      clearInterval(timer)
      await miniflare.dispose()
      forgetWorkerd(data)
    },
  }
}
