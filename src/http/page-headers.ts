/**
 * The headers of an HTML page with this Content-Security-Policy. They replace those of the API, which allow nothing.
 */
export const pageHeaders = (policy: Record<string, string>) => ({
  'Content-Security-Policy': Object.entries(policy)
    .map((directive) => directive.join(' '))
    .join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
})
