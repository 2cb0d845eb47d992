// The simulated deployments of `npm run bench -- slots`, for the Workers and for the client.

/** The duration of a query. A database runs one at a time. */
export const SERVICE_MS = 25

export const REGIONS = ['Europe', 'North America', 'Asia'] as const
/** Milliseconds to the database in each region and back, by the region of the request: typical round trips. */
export const DISTANCES_MS: readonly (readonly number[])[] = [
  [2, 90, 230],
  [90, 2, 150],
  [230, 150, 2],
]
