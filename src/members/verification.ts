import type { Config } from '../env'
import { fieldError } from '../http/errors'

/**
 * Checks the code that came with a sign-up. Under `off` any code will do; under `required` it must have been issued,
 * and until codes are mailed none has been.
 * @throws INVALID_FIELDS on `authenticationCode`
 */
export const checkCode = (config: Config, authenticationCode: string) => {
  if (config.EMAIL_VERIFICATION === 'off') return
  throw fieldError('authenticationCode', authenticationCode, 'is wrong, expired or used up')
}
