/** Masks an address so that only its owner recognizes it, such as `j***@example.com`. */
export const maskEmail = (email: string) => email.replace(/^(.).*(?=@)/, '$1***')
