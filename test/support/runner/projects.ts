/** The projects of vitest.config.ts that `npm test` runs, without slow tests. */
export const QUICK = ['worker', 'growth', 'tools']
/** Those that `npm run test:all` adds. */
export const FURTHER = ['in-slot', 'runbook']
/** Those that only CI adds: they install packages, use Chromium, or take minutes. */
export const CI_ONLY = ['browser', 'clients', 'commands']

/** Options of vitest. */
export const inProjects = (projects: string[]) => projects.map((name) => `--project=${name}`)
export const NOT_SLOW = '--tags-filter=!slow'
export const SLOW = '--tags-filter=slow'
