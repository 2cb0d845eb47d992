import { expect, it } from 'vitest'
import { login, PASSWORD, signUp } from '../support/api'
import { select } from '../support/database'

const weakHash = async (password: string) => {
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(password), 'PBKDF2', false, ['deriveBits'])
  const algorithm = { name: 'PBKDF2', hash: 'SHA-512', salt: new Uint8Array(16), iterations: 1000 }
  return new Uint8Array(await crypto.subtle.deriveBits(algorithm, key, 512)).toBase64()
}

it('replaces a weak password hash at login', async () => {
  const { email } = await signUp()
  const weak = `$pbkdf2-sha512-chain$r=1,i=1000$AAAAAAAAAAAAAAAAAAAAAA==$${await weakHash(PASSWORD)}`
  await select('update members set passwordHash = ? where email = ?', weak, email)
  expect((await login(email)).status).toBe(200)
  const [stored] = await select('select passwordHash from members where email = ?', email)
  expect(stored?.passwordHash).toMatch(/^\$pbkdf2-sha512-chain\$r=3,i=70000\$/)
  expect((await login(email)).status).toBe(200)
})
