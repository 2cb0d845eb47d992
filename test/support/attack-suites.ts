/** The suites of `npm run attack` by folder, in the order in which they run. */
export const FOLDERS = {
  access: ['input', 'isolation', 'access', 'guard', 'forgery'],
  credentials: ['traces', 'takeover', 'codes', 'reset', 'logins'],
  load: ['uploads', 'slow', 'overload', 'memory', 'limits', 'growth'],
  failures: ['faults', 'crashes', 'kills', 'imports', 'withdrawal'],
  devices: ['devices'],
  data: ['files', 'model', 'interleaved', 'stats', 'lists', 'links', 'sync', 'quotas', 'supply'],
}
