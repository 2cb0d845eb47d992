/**
 * How long the service waits before it gives up, in milliseconds. In one place, because some depend on others, and because
 * tests run with longer ones: test/support/runner/long-deadlines.ts.
 */
export const DEADLINES = {
  /** D1: a call with its retries, and its turn before that. */
  databaseCall: 10_000,
  databaseTurn: 2000,
  /** The push of a device, which waits two seconds: a call with its retries, and its turn before that. */
  push: 1300,
  pushTurn: 500,
  /** Checking all databases for a health check. */
  healthCheck: 10_000,
  /** R2: a call with its retries, and one that only cleans up after a failed call. */
  bucketCall: 10_000,
  bucketCleanup: 1000,
  /** Longer than storing an object can take: then an object whose row was deleted meanwhile is deleted again. */
  storing: 15_000,
  /** Reading a file, or cleaning an image, in the second Worker, retries included. The largest files take up to two seconds. */
  fileReader: 10_000,
  /** Sending one mail. */
  mail: 10_000,
  /** Reading a static file. */
  asset: 10_000,
  /** A cached image, a cached list, the last sweep, a rate limit: a request goes on without them. */
  imageCache: 1000,
  listCache: 1000,
  lastSweep: 1000,
  rateLimit: 1000,

  /** A provider of the catalogue. An older refresh of a list was cancelled with its request. */
  provider: 3000,
  refresh: 4000,

  /** A waiter of a limiter without a heartbeat for so long was cancelled; one whose turn it is must claim it. */
  heartbeat: 2000,
  claim: 250,
  /** A round of work that blocks the isolate, and the turn for it. */
  round: 2000,
  roundTurn: 60_000,
  /** A large page or the statistics of a long year: the turn and the work. */
  page: 15_000,

  /** A request body: without enough bytes, and in all. */
  bodyStall: 8000,
  body: 60_000,
  /** The memory for a large body: without a renewal, and the turn. */
  bodyMemory: 5000,
  bodyMemoryTurn: 10_000,
  /** Discarding a body that no handler read. */
  unreadBody: 10_000,

  /** A client that receives a chunk, which stays in memory until then, and a whole response. */
  chunk: 20_000,
  response: 120_000,
  /** Of up to 10 MiB. */
  download: 300_000,
  /** Loading a part of a large list. */
  part: 15_000,
  /** A large list: without a part, longer than `chunk`; and the turn. */
  list: 30_000,
  listTurn: 25_000,

  /** A run of an import; what is left, the next run does. */
  importRun: 20_000,
  /** The lease of an import: longer than a run with its last call. */
  importLease: 45_000,
  importTurn: 10_000,
} as const
