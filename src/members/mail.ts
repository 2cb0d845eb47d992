import type { Bindings, Config } from '../env'
import { unavailable } from '../errors'
import { withTimeout } from '../retry'

const SENDER = 'Reading Library'
const TIMEOUT_MS = 10_000

const compose = (code: string) => ({
  subject: `${code} – 인증 코드 · Verification code`,
  text: [
    `인증 코드: ${code}`,
    '가입 화면에 10분 안에 입력해 주세요. 요청하지 않으셨다면 이 메일을 무시하셔도 됩니다.',
    '',
    `Your verification code: ${code}`,
    'Enter it on the sign-up page within 10 minutes. If you did not request it, ignore this message.',
  ].join('\n'),
  html: `<!doctype html>
<html lang="ko"><body style="font-family:sans-serif">
<p>인증 코드</p><p style="font-size:2em;letter-spacing:.2em"><b>${code}</b></p>
<p>가입 화면에 10분 안에 입력해 주세요. 요청하지 않으셨다면 이 메일을 무시하셔도 됩니다.</p>
<div lang="en"><p>This is your verification code. Enter it on the sign-up page within 10 minutes.
If you did not request it, ignore this message.</p></div>
</body></html>`,
})

/**
 * Mails a verification code. Never retried, because a second mail is more confusing than none.
 * @throws UNAVAILABLE when it cannot be sent
 */
export const sendCode = async (env: Bindings, config: Config, to: string, code: string) => {
  try {
    if (!config.MAIL_FROM)
      throw new Error('MAIL_FROM is missing: set it to an address of a domain that is set up for sending')
    const from = { email: config.MAIL_FROM, name: SENDER }
    await withTimeout(TIMEOUT_MS, () => env.EMAIL.send({ from, to, ...compose(code) }))
  } catch (error) {
    // The mail provider's message may contain the address, which must not be logged.
    throw unavailable(`mail: ${String(error).replaceAll(to, '(address)')}`)
  }
}
