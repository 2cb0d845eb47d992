/** A group of an IPv6 address as a number, or the IPv4 address at its end as two. */
const toNumbers = (group: string) => {
  if (!group.includes('.')) return [Number.parseInt(group, 16)]
  const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
  return [a * 256 + b, c * 256 + d]
}

/** The /64 of an IPv6 address, which belongs to one customer; an IPv4 address, also one mapped to IPv6, unchanged. */
export const toNetwork = (address: string) => {
  if (!address.includes(':')) return address
  const [head = [], tail = []] = address.split('::').map((half) => half.split(':').filter(Boolean).flatMap(toNumbers))
  const zeros = Array<number>(Math.max(0, 8 - head.length - tail.length)).fill(0)
  const groups = [...head, ...zeros, ...tail]
  if (groups.slice(0, 6).join() === '0,0,0,0,0,65535') {
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 255])
      .join('.')
  }
  return groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')
}

/** The sources that a network belongs to: itself and, for an IPv6 /64, the /48, all of which one customer may hold. */
export const sourcesOf = (network: string) => [...new Set([network, network.split(':', 3).join(':')])]
