// The texts of the operations in the OpenAPI document: docs/decisions/0022-descriptions-of-the-api.md.

import { MAX_EXAMINED } from '../books/list'
import { MAX_SAME_ISBN } from '../editions/store'
import { MAX_BOOK_TAGS, MAX_TAGS } from '../tags/schema'
import { MAX_TOKENS } from '../tokens/schema'

/** Summary and description by operationId. */
export const OPERATIONS: Record<string, { summary: string; description: string }> = {
  listAuthors: {
    summary: 'List the authors of your books',
    description:
      'In alphabetical order, regardless of case. Authors that differ only in case are one author, spelled as in the book ' +
      'that was registered first.',
  },
  listLibrary: {
    summary: 'List books by status',
    description: 'Newest registration first. `setCreatedDate` does not change the order.',
  },
  listCalender: {
    summary: 'List finished books by end date',
    description: 'Books that are `DONE` and have a `readEndDate`, latest first.',
  },
  listAbandoned: {
    summary: 'List old unread books',
    description:
      'Books that are still `YET` 90 days after registration, oldest first. The number of days can be configured.',
  },
  listMemoBooks: {
    summary: 'List books with memos',
    description: 'Books that have at least one memo. Newest registration first.',
  },
  listBooks: {
    summary: 'List, sort and filter books',
    description:
      'All books, or those that match all filters. A `-` before the sort reverses it. Books without a value to sort by come ' +
      'last in both directions, newest registration first: for `author`, books without one; for `finished`, books that ' +
      'are not `DONE` or have no `readEndDate`; for `rating`, unrated books. With filters, a request examines at most ' +
      `${2 * MAX_EXAMINED} books, so a page can be short or empty: the list ends when \`next\` is null.`,
  },
  registerBook: {
    summary: 'Register a book',
    description:
      'Only `title` is required. Registering the same title twice creates two books. Status and dates are stored as ' +
      'sent: neither changes the other.',
  },
  getBook: {
    summary: 'Get a book with its memos',
    description:
      '`memoCount` counts all memos of the book. `memosList` contains those that match `memoAuthority`, newest first.',
  },
  listBookMemos: {
    summary: 'List the memos of a book',
    description:
      'Newest first. `size` may be up to 10,000: send the `memoCount` of the book to load all its memos at once.',
  },
  updateBook: {
    summary: 'Update a book',
    description:
      'Absent fields stay unchanged, and null clears a field that may be null. Any status may follow any other, and ' +
      'none changes a date. An empty object changes nothing.',
  },
  deleteBook: {
    summary: 'Delete a book with its memos',
    description: 'Cannot be undone. A second deletion returns 404.',
  },
  setCreatedDate: {
    summary: 'Overwrite the registration date of a book',
    description:
      'The body is the new date, in the time zone of the service, as plain text or as a JSON string, whatever the content ' +
      'type says. Only `listAbandoned` depends on this date.',
  },
  listBestSellers: {
    summary: 'List best sellers',
    description: 'At most ten, in the order of the provider. Needs no token.',
  },
  listNewBooks: {
    summary: 'List notable new books',
    description: 'At most ten, as selected by the provider. Needs no token.',
  },
  searchCatalogue: {
    summary: 'Search the catalogue by title or author',
    description:
      'At most ten results, or an empty array. Needs no token. The search term is the rest of the path: slashes may ' +
      'be sent as they are or as `%2F`. Encode `?`, `#` and `%`. `best-seller` and `item-new-special` return the lists instead.',
  },
  listBooksByIsbn: {
    summary: 'List books by ISBN',
    description: `Newest registration first, at most ${MAX_SAME_ISBN}. An ISBN-10 and its ISBN-13 find the same books.`,
  },
  getEdition: {
    summary: 'Get the edition of a book',
    description: 'Unknown details are null; without identifiers, `sourceIds` is an empty array.',
  },
  updateEdition: {
    summary: 'Update the edition of a book',
    description: 'Absent fields stay unchanged, and null clears a field. An empty object changes nothing.',
  },
  requestEmailChange: {
    summary: 'Request a change of your e-mail address',
    description:
      'Mails a code of ten letters and digits to the new address. The code is valid for ten minutes. If the address ' +
      'belongs to another member, that member is informed by mail instead; the response is the same. At most two mails ' +
      'are sent to an address in ten minutes. A wrong password counts as a failed login.',
  },
  changeEmail: {
    summary: 'Change your e-mail address',
    description:
      'Requires a code from `requestEmailChange`, which works once, unless the password or the e-mail address was changed ' +
      'meanwhile. You stay logged in on all devices; `endOtherSessions` logs out the others. A code that restores the ' +
      'former address is mailed to it, and the address is reserved for you for 72 hours.',
  },
  undoEmailChange: {
    summary: 'Undo a change of e-mail address',
    description:
      'Restores the former address with the code that was mailed to it, within 72 hours. Also undoes all later changes, ' +
      'logs out all devices, and deletes all access tokens and the password: reset it with `requestPasswordReset`. The ' +
      'code works once.',
  },
  checkHealth: {
    summary: 'Check the health of the service',
    description:
      'Succeeds when the configuration is valid and all databases answer, checked at most once every five seconds. With ' +
      'several databases, the error message names those that do not. Of more than sixty, each check asks sixty.',
  },
  loadImage: {
    summary: 'Load an image',
    description: 'Needs no token, so that browsers can load it with `<img>`. Supports conditional and range requests.',
  },
  listImages: {
    summary: 'List your images',
    description: 'Newest first. The sum of `bytes` counts towards the limit on images.',
  },
  deleteImage: {
    summary: 'Delete an image',
    description:
      'Memos that show the image are not changed. Data centres that cached it may serve it for ten more minutes, and ' +
      'clients that loaded it may keep it for a year.',
  },
  signUp: {
    summary: 'Sign up',
    description:
      'Requires a code from `requestCode`, or any text if the service does not verify addresses. The service may refuse ' +
      'the 10,000 most common passwords. Returns no token: log in afterwards.',
  },
  requestCode: {
    summary: 'Request a verification code',
    description:
      'Mails a six-digit code, which is valid for ten minutes. It works once, from any network. A code requested earlier ' +
      'for the same address from the same network becomes invalid.',
  },
  logIn: {
    summary: 'Log in',
    description:
      'Returns the token in the `Authorization` response header, as `Bearer <JWT>`. After ten failed logins to an ' +
      'account within 15 minutes, further ones from the same network get 429, even with the right password.',
  },
  getProfile: { summary: 'Get your profile', description: 'Returns the member the token belongs to.' },
  updateProfile: {
    summary: 'Update your name or password',
    description:
      'A new password ends all other sessions immediately. The current session and access tokens stay valid. ' +
      'At most ten password changes an hour. A wrong `currentPassword` counts as a failed login. The service may refuse ' +
      'the 10,000 most common passwords.',
  },
  withdraw: {
    summary: 'Delete your account',
    description:
      'All tokens stop working immediately, and the e-mail address can sign up again. Books and memos can no longer be ' +
      'read. They and the images are deleted soon after. Cannot be undone.',
  },
  drawMemo: {
    summary: 'Get a random memo',
    description: 'Returns one of your memos, each equally likely, or an empty array if you have none.',
  },
  uploadMemoImage: {
    summary: 'Upload an image for a memo',
    description:
      'Accepts PNG, JPEG, GIF, WebP and AVIF, detected by content, up to 10 MiB and 268 megapixels. Returns the URL of ' +
      'the image, which needs no token and cannot be guessed. Metadata such as location, camera and time is removed.',
  },
  createMemo: {
    summary: 'Add a memo to a book',
    description:
      'The content is stored exactly as sent. If it is HTML, clients must sanitize it. To show an image, upload it ' +
      'first, and put its URL into the content.',
  },
  getMemo: { summary: 'Get a memo', description: 'Returns one memo. The `Location` of a new memo points here.' },
  updateMemo: {
    summary: 'Update a memo',
    description: 'Absent fields stay unchanged. An empty object changes nothing.',
  },
  deleteMemo: { summary: 'Delete a memo', description: 'Cannot be undone. A second deletion returns 404.' },
  listProgress: {
    summary: 'List the progress of a book',
    description:
      'Latest first. Every change of `currentPage` and every `addProgress` is an event. Beyond 10,000 events of a book, ' +
      'those of a UTC day are merged into its last one, oldest days first.',
  },
  addProgress: {
    summary: 'Add progress to a book',
    description:
      'Send either `page` or, if the book has an `itemPage`, `percent`. The latest event sets `currentPage`; an earlier ' +
      'one is only added to the list. An event at the same time is replaced. The status of the book stays the same.',
  },
  listReadings: {
    summary: 'List the readings of a book',
    description:
      'Newest first, at most 200. A book that is `ING` or `DONE` has at least one. The book has the status, dates and ' +
      'rating of the newest.',
  },
  createReading: {
    summary: 'Add a reading of a book',
    description:
      'If it is the newest reading, the book takes its status, full dates and rating. Otherwise the book does not change.',
  },
  updateReading: {
    summary: 'Update a reading',
    description:
      'Absent fields stay unchanged, and null clears a field. If the reading is or becomes the newest, the book changes, ' +
      'too. An empty object changes nothing.',
  },
  deleteReading: {
    summary: 'Delete a reading',
    description:
      'Cannot be undone. The book takes the status, dates and rating of the newest reading that is left. Without any, the ' +
      'book becomes `YET` and has no dates.',
  },
  requestPasswordReset: {
    summary: 'Request a password reset',
    description:
      'If the address is a member’s, mails a code of ten letters and digits, such as `K7QM2-9FXTR`, which is valid for ' +
      'ten minutes. At most two valid codes are mailed to an address in ten minutes. The response is the same for every address.',
  },
  requestPasswordChange: {
    summary: 'Request a password reset, for older clients',
    description: 'The same as `requestPasswordReset`. Never changes a password.',
  },
  resetPassword: {
    summary: 'Reset a password',
    description:
      'Sets a new password with a code from `requestPasswordReset`, and ends all sessions and access tokens. Returns ' +
      'no token: log in afterwards. The code works once, unless the password or the e-mail address was changed meanwhile. ' +
      'At most five tries in ten minutes from a network.',
  },
  searchBooks: {
    summary: 'Search your books',
    description:
      'Books whose title, author or publisher contains `q`, newest first, regardless of case. In publishers, the case of ' +
      'letters beyond ASCII matters. A request searches at most 1,000 books, so a page can be short or empty: the list ' +
      'ends when `next` is null.',
  },
  searchMemos: {
    summary: 'Search your memos',
    description:
      'Memos that contain `q`, newest first, regardless of case, in all books or in one. Memos are searched as they are ' +
      'stored: in HTML, tags and entities are part of the text. A request searches at most 1,000 memos or about 4 MiB of ' +
      'text, so a page can be short or empty: the list ends when `next` is null.',
  },
  logOut: {
    summary: 'Log out',
    description: 'Ends your session. All its tokens stop working immediately, including renewed ones.',
  },
  listSessions: {
    summary: 'List your sessions',
    description:
      'Newest first. Each login creates a session. A member has at most a hundred: a further login ends the oldest.',
  },
  endOtherSessions: {
    summary: 'End all other sessions',
    description: 'Logs all other devices out immediately. Access tokens stay valid.',
  },
  renewSession: {
    summary: 'Renew your session',
    description:
      'Returns a fresh token in the `Authorization` response header, like a login. The old token stays valid until it ' +
      'expires. A session can be renewed for at most 90 days after its login; then its last token expires.',
  },
  endSession: {
    summary: 'End a session',
    description: 'Logs that device out immediately. You can also end your current session.',
  },
  listActivity: {
    summary: 'List the activity of your account',
    description:
      'The last 90 days, newest first: logins, ended sessions, and changes of password, e-mail address and access ' +
      'tokens. At most 500 failed logins, of which twenty a day are listed, and 500 other entries.',
  },
  listTaggedBooks: {
    summary: 'List the books with a tag',
    description: 'Newest registration first. Empty for an unknown tag.',
  },
  listBookTags: { summary: 'List the tags of a book', description: 'In alphabetical order, regardless of case.' },
  setBookTags: {
    summary: 'Replace the tags of a book',
    description:
      'Tags are trimmed and compared regardless of case. A tag that you already use on any book keeps its spelling. You ' +
      `can have ${MAX_TAGS} tags, and ${MAX_BOOK_TAGS} per book. A tag without books is deleted.`,
  },
  listTags: { summary: 'List your tags', description: 'In alphabetical order, regardless of case.' },
  renameTag: {
    summary: 'Rename a tag, or merge it into another one',
    description:
      'If another of your tags equals `to` regardless of case, `from` is merged into it, and it keeps its spelling. ' +
      'Otherwise `from` is renamed. The new name may differ only in case.',
  },
  deleteTag: { summary: 'Delete a tag', description: 'Removes the tag from all books. A second deletion returns 404.' },
  createToken: {
    summary: 'Create an access token',
    description:
      'For a script or an app that needs only part of your account. No other response contains the token: the service ' +
      `stores only a hash. A member may have ${MAX_TOKENS} tokens, not counting expired ones.`,
  },
  listTokens: {
    summary: 'List your access tokens',
    description: 'Newest first, without the tokens themselves. Expired ones are not listed.',
  },
  deleteToken: {
    summary: 'Delete an access token',
    description: 'It stops working immediately. A second deletion returns 404.',
  },
}
