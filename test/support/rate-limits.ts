const limiterOf = (success: boolean) => ({ limit: async () => ({ success }) }) as RateLimit

export const unlimited = limiterOf(true)
export const refusing = limiterOf(false)

/** The bindings of all rate limits. */
export const UNLIMITED = {
  MEMBER_LIMIT: unlimited,
  SEARCH_LIMIT: unlimited,
  DEVICE_LIMIT: unlimited,
  NETWORK_LIMIT: unlimited,
  WRITE_LIMIT: unlimited,
  CREDENTIAL_LIMIT: unlimited,
}
