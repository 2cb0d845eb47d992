// The texts of all mails, of which templates.ts makes a static file. docs/operations.md says how to change them.

/** A kind of mail, with the values in its text. */
export type Mail =
  | { kind: 'verification'; code: string }
  | { kind: 'passwordReset'; code: string }
  | { kind: 'passwordWasReset' }
  /** To the new address. `isReturn`: a former one that an undo would restore. */
  | { kind: 'emailChange'; code: string; isReturn: boolean }
  /** To the old address. */
  | { kind: 'emailChanged'; undoCode: string; newEmail: string }
  /** To a new address that belongs to a member. */
  | { kind: 'emailTaken' }
  /** To the address that an undo restored. After a return, with a code to reset the password. */
  | { kind: 'emailRestored'; code?: string }
  /** To the address that the undo or the return replaced. */
  | { kind: 'emailReplaced'; restoredEmail: string }
  /** About a new access token or link. `tokens`, `links`: how many the account has now. */
  | { kind: 'tokenCreated'; tokens: number | string; links: number | string }

export const SENDER_NAME = 'Reading Library'

/** The body is a list of paragraphs, in plain text. A code is shown large. False is left out. */
export type Content = { subject: string; body: (string | { code: string } | false)[] }

/** Addresses are masked already. */
type Texts = { [Kind in Mail['kind']]: (mail: Extract<Mail, { kind: Kind }>) => Content }

const ko: Texts = {
  verification: ({ code }) => ({
    subject: '인증 코드',
    body: [
      '인증 코드:',
      { code },
      '가입 화면에 10분 안에 입력해 주세요. 요청하지 않으셨다면 이 메일을 무시하셔도 됩니다.',
    ],
  }),
  passwordReset: ({ code }) => ({
    subject: '비밀번호 재설정 코드',
    body: [
      '비밀번호 재설정 코드:',
      { code },
      '비밀번호 재설정을 요청하신 화면에 새 비밀번호와 함께 10분 안에 입력해 주세요. 이 코드를 다른 사람에게 알려 주지 마세요.',
      '요청하지 않으셨다면 이 메일을 무시하셔도 됩니다. 비밀번호는 바뀌지 않습니다.',
    ],
  }),
  passwordWasReset: () => ({
    subject: '비밀번호가 재설정되었습니다',
    body: [
      '비밀번호가 재설정되었습니다. 모든 기기에서 로그아웃되었고, 모든 액세스 토큰과 공유 링크가 삭제되었습니다. 새 비밀번호로 다시 로그인해 주세요.',
      '직접 재설정하지 않으셨다면 다른 사람이 이 메일함을 보고 있을 수 있습니다. 먼저 이메일 계정의 비밀번호를 바꾼 다음, Reading Library 비밀번호를 다시 재설정해 주세요.',
    ],
  }),
  emailChange: ({ code, isReturn }) => ({
    subject: '새 이메일 주소 확인 코드',
    body: [
      'Reading Library 계정의 새 이메일 주소 확인 코드:',
      { code },
      '이메일 주소 변경을 요청하신 화면에 10분 안에 입력해 주세요.',
      isReturn &&
        '최근 72시간 안에 계정에서 사용하시던 주소입니다. 이 코드를 입력하시면 그 이후의 이메일 주소 변경이 모두 취소됩니다. 다른 모든 기기에서 로그아웃되고, 모든 액세스 토큰과 공유 링크가 삭제되며, 현재 비밀번호는 더 이상 사용할 수 없게 됩니다. 이어서 새 비밀번호를 설정할 수 있는 코드를 이 주소로 보내 드립니다.',
      '요청하지 않으셨다면 이 메일을 무시하셔도 됩니다. 아무것도 바뀌지 않습니다.',
    ],
  }),
  emailChanged: ({ undoCode, newEmail }) => ({
    subject: '이메일 주소가 변경되었습니다',
    body: [
      `계정의 이메일 주소가 ${newEmail}(으)로 변경되었습니다. 직접 변경하셨다면 따로 하실 일은 없습니다.`,
      '직접 변경하지 않으셨다면 72시간 안에 아래 코드를 이메일 주소 변경 취소 화면에 입력해 주세요. 그러면 이 주소가 복원되고 모든 기기에서 로그아웃되며, 비밀번호를 재설정하셔야 합니다.',
      { code: undoCode },
      '이 코드를 다른 사람에게 알려 주지 마세요.',
    ],
  }),
  emailTaken: () => ({
    subject: '이메일 주소 변경 요청',
    body: [
      'Reading Library 계정의 이메일 주소를 이 주소로 변경하려는 요청이 있었습니다. 이 주소는 이미 회원님의 계정에서 사용 중이므로 아무것도 바뀌지 않았습니다.',
      '직접 요청하셨다면 다른 주소를 사용하거나, 이 주소로 로그인해 주세요. 요청하지 않으셨다면 이 메일을 무시하셔도 됩니다.',
    ],
  }),
  emailRestored: ({ code }) => ({
    subject: '이메일 주소가 복원되었습니다',
    body: code
      ? [
          '계정의 이메일 주소가 이전에 사용하시던 이 주소로 변경되어, 그 이후의 변경이 모두 취소되었습니다. 변경하신 기기를 제외한 모든 기기에서 로그아웃되었고, 모든 액세스 토큰과 공유 링크가 삭제되었습니다.',
          '이전 비밀번호는 더 이상 사용할 수 없습니다. 비밀번호 재설정 화면에서 아래 코드와 새 비밀번호를 10분 안에 입력해 주세요.',
          { code },
          '이 코드를 다른 사람에게 알려 주지 마세요. 10분이 지났다면 비밀번호 재설정 화면에서 새 코드를 요청해 주세요.',
        ]
      : [
          '계정의 이메일 주소가 이 주소로 복원되었습니다. 모든 기기에서 로그아웃되었고, 모든 액세스 토큰과 공유 링크가 삭제되었습니다.',
          '로그인하려면 먼저 비밀번호를 재설정해 주세요. 이전 비밀번호는 더 이상 사용할 수 없습니다.',
        ],
  }),
  emailReplaced: ({ restoredEmail }) => ({
    subject: '이메일 주소 변경이 취소되었습니다',
    body: [
      `계정의 이메일 주소 변경이 취소되어, 이 주소 대신 이전 주소 ${restoredEmail}(이)가 다시 사용됩니다. 다른 모든 기기에서 로그아웃되었고, 모든 액세스 토큰과 공유 링크가 삭제되었습니다.`,
      '직접 하지 않으셨다면, 최근 72시간 안에 이 주소로 받으신 이메일 주소 변경 취소 코드가 있는지 확인하고 그 코드를 입력해 주세요.',
    ],
  }),
  tokenCreated: ({ tokens, links }) => ({
    subject: '새 액세스 토큰 또는 공유 링크가 만들어졌습니다',
    body: [
      `계정에 새 액세스 토큰 또는 공유 링크가 만들어졌습니다. 현재 계정의 액세스 토큰은 ${tokens}개, 공유 링크는 ${links}개입니다.`,
      '직접 만들지 않으셨다면 로그인하여 비밀번호를 변경하고 모든 액세스 토큰과 공유 링크를 삭제해 주세요. 비밀번호만 변경하시면 기존 액세스 토큰과 공유 링크는 계속 유효합니다.',
      '앞으로 1시간 동안 만들어지는 액세스 토큰과 공유 링크는 따로 알려 드리지 않습니다.',
    ],
  }),
}

const en: Texts = {
  // The code comes first in the subject, where a notification shows it.
  verification: ({ code }) => ({
    subject: `${code} – your Reading Library verification code`,
    body: [
      'Your verification code:',
      { code },
      'Enter it on the sign-up page within 10 minutes. If you did not request it, you can ignore this message.',
    ],
  }),
  passwordReset: ({ code }) => ({
    subject: 'Your Reading Library password reset code',
    body: [
      'Your password reset code:',
      { code },
      'Enter it with a new password within 10 minutes, on the page where you asked to reset your password. Do not share it with anyone.',
      'If you did not request it, you can ignore this message: your password stays the same.',
    ],
  }),
  passwordWasReset: () => ({
    subject: 'Your Reading Library password was reset',
    body: [
      'Your password was reset. You were logged out on all devices, and all access tokens and sharing links were deleted. Log in again with the new password.',
      'If this was not you, someone else may be reading this mailbox: first change the password of your e-mail account, then reset your Reading Library password again.',
    ],
  }),
  emailChange: ({ code, isReturn }) => ({
    subject: 'Confirm your new Reading Library e-mail address',
    body: [
      'Your code to confirm this address as the new e-mail address of your Reading Library account:',
      { code },
      'Enter it within 10 minutes, on the page where you asked to change your e-mail address.',
      isReturn &&
        'Your account used this address in the last 72 hours. Entering the code undoes all changes of address since then: it logs you out on all other devices, deletes all access tokens and sharing links, and disables your password. We then mail a code for setting a new one to this address.',
      'If you did not request it, you can ignore this message: nothing changes.',
    ],
  }),
  emailChanged: ({ undoCode, newEmail }) => ({
    subject: 'Your Reading Library e-mail address was changed',
    body: [
      `The e-mail address of your account was changed to ${newEmail}. If this was you, you do not need to do anything.`,
      'If it was not, enter this code within 72 hours on the page for undoing a change of e-mail address. This restores your address and logs you out on all devices. You then have to reset your password.',
      { code: undoCode },
      'Do not share it with anyone.',
    ],
  }),
  emailTaken: () => ({
    subject: 'Request to change a Reading Library e-mail address',
    body: [
      'Someone asked to change the e-mail address of a Reading Library account to this one. It already belongs to your account, so nothing has changed.',
      'If this was you, choose another address, or log in with this one. If not, you can ignore this message.',
    ],
  }),
  emailRestored: ({ code }) => ({
    subject: 'Your Reading Library e-mail address was restored',
    body: code
      ? [
          'The e-mail address of your account was changed back to this one, which undid all changes since. You were logged out on all other devices, and all access tokens and sharing links were deleted.',
          'Your old password no longer works. To set a new one, enter this code within 10 minutes on the page for resetting your password.',
          { code },
          'Do not share it with anyone. After 10 minutes, request a new code on that page.',
        ]
      : [
          'The e-mail address of your account was changed back to this one. You were logged out on all devices, and all access tokens and sharing links were deleted.',
          'Reset your password before you log in: the old one no longer works.',
        ],
  }),
  emailReplaced: ({ restoredEmail }) => ({
    subject: 'The change of your Reading Library address was undone',
    body: [
      `The e-mail address of your account is ${restoredEmail} again, instead of this one: the change was undone. All other devices were logged out, and all access tokens and sharing links were deleted.`,
      'If this was not you, look for a mail to this address with a code for undoing an earlier change. Within 72 hours of that mail, enter its code.',
    ],
  }),
  tokenCreated: ({ tokens, links }) => ({
    subject: 'New Reading Library access token or link',
    body: [
      `An access token or a sharing link was created for your account. The number of access tokens of your account is now ${tokens}, that of sharing links ${links}.`,
      'If this was not you, log in, change your password, and delete all access tokens and sharing links. If you change only the password, they keep working.',
      'You will get no mail about access tokens and sharing links created within the next hour.',
    ],
  }),
}

/** By language, in the order of a mail. */
export const TEXTS = { en, ko }
