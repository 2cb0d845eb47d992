// Hashes passwords as the service does. Timed from outside, because a Worker's clock may stand still.
import { hashPassword } from '../../../src/accounts/passwords/password.ts'

export default {
  async fetch(request) {
    const hashes = Number(new URL(request.url).searchParams.get('hashes'))
    for (let n = 0; n < hashes; n++) await hashPassword('correct-horse-9')
    return new Response(String(hashes))
  },
} satisfies ExportedHandler
