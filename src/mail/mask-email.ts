/** An address that its owner recognizes and others cannot use, such as `j***@example.com`. */
export const maskEmail = (email: string) => email.replace(/^(.).*(?=@)/, '$1***')
