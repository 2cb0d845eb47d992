import { hostileForms } from '../support/hostile-forms'

const UNREADABLE = [
  `file name 12: ${'x'.repeat(40)}`,
  ...[0, 1, 2, 7, 8, 9, 10].map((number) => `disposition ${number}`),
  'two files',
  'a file and a text of the same name',
  'a text and a file of the same name',
  'a nested form',
  'line feeds for line ends',
  'the boundary inside the image',
  'no final boundary',
  'boundaries only',
  'a different boundary',
  'an empty boundary',
  'a boundary of 1,000 characters',
  'no boundary',
]
const NOT_A_FORM = ['multipart/mixed', 'the image itself']

/** The hostile forms, each with the status that the service answers: 201 where the form still has one readable file. */
export const formsWithStatus = () => {
  const forms = hostileForms()
  const unknown = [...UNREADABLE, ...NOT_A_FORM].filter((name) => !forms.some((form) => form.name === name))
  if (unknown.length > 0) throw new Error(`hostile-forms.ts has no form named ${unknown.join(', ')}`)
  const statusOf = (name: string) => (UNREADABLE.includes(name) ? 400 : NOT_A_FORM.includes(name) ? 415 : 201)
  return forms.map((form) => ({ ...form, status: statusOf(form.name) }))
}
