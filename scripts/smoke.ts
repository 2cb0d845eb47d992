// Tries every row of the contract and of its decisions against a running service, over HTTP, and leaves nothing there.
import { parseArgs } from 'node:util'
import { isError } from './smoke/answer.ts'
import { checkMemberBodies } from './smoke/bodies.ts'
import { checkBooks } from './smoke/books.ts'
import { checkCatalogue } from './smoke/catalogue.ts'
import { check, checkAnyway, conclude, explain } from './smoke/check.ts'
import { connect, type Service } from './smoke/client.ts'
import { checkCodes } from './smoke/codes.ts'
import { checkImages } from './smoke/images.ts'
import { checkMembers } from './smoke/members.ts'
import { checkMemos } from './smoke/memos.ts'
import { fieldOf } from './smoke/shelf.ts'
import { checkHeads, checkPublic } from './smoke/transport.ts'
import { checkViews } from './smoke/views.ts'

const USAGE = `Usage: npm run smoke -- BASE_URL [--public] [--origin ORIGIN]
  BASE_URL   where the service runs, for example http://localhost:8787
  --public   tries only what needs no member
  --origin   an origin that CORS_ORIGINS lets in (default https://app.example)`

const giveUp = (why: string): never => {
  console.error(why)
  process.exit(1)
}

const readArguments = () => {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        public: { type: 'boolean', default: false },
        origin: { type: 'string', default: 'https://app.example' },
      },
    })
    const { origin, pathname } = new URL(positionals[0] ?? '')
    return { ...values, baseUrl: origin + pathname.replace(/\/$/, '') }
  } catch {
    return giveUp(USAGE)
  }
}

const AREAS = [checkMembers, checkCodes, checkBooks, checkViews, checkMemos, checkImages, checkMemberBodies, checkHeads]

/** Whether members can be created: under EMAIL_VERIFICATION=required the code of a mail would be needed. */
const canJoin = async ({ join }: Service) => {
  const answer = await join()
  const broken = fieldOf(answer, 'fieldErrors') as { field: string }[] | null
  return answer.status === 201 || broken?.[0]?.field !== 'authenticationCode'
}

const { baseUrl, origin, public: isPublicOnly } = readArguments()
const service = connect(baseUrl)
const first = await service
  .send('GET', '/members/me')
  .catch((error) => giveUp(`Cannot reach ${baseUrl}: ${explain(error)}`))
if (!isError(first)) giveUp(`${baseUrl} does not look like this service: ${first.request} got ${first.status}`)

try {
  await checkPublic(service, origin)
  await checkCatalogue(service)
  if (isPublicOnly) {
    console.log('     all else is left out')
  } else if (await canJoin(service)) {
    for (const area of AREAS) {
      await area(service).catch((error) => check(`${area.name}: can go on`, () => Promise.reject(error)))
    }
  } else {
    await check('POST /join: creates members', () => {
      throw new Error('not without a mailbox, since EMAIL_VERIFICATION is required here; --public does without them')
    })
  }
} finally {
  await checkAnyway('DELETE /members/me: everybody who signed up is withdrawn', service.withdrawEveryone)
  await service.checkAlways()
}
process.exitCode = conclude()
