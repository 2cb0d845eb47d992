// The service without its request log.
import service from '../../support/service/service.js'
import './silence.ts'

export default { fetch: service.fetch }
