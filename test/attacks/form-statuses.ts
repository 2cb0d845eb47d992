import { hostileForms } from '../support/hostile-forms'

const REFUSED: Record<string, number> = {
  [`file name 12: ${'x'.repeat(40)}`]: 400,
  'disposition 0': 400,
  'disposition 1': 400,
  'disposition 2': 400,
  'disposition 7': 400,
  'disposition 8': 400,
  'disposition 9': 400,
  'disposition 10': 400,
  'two files': 400,
  'a file and a text of the same name': 400,
  'a text and a file of the same name': 400,
  'a nested form': 400,
  'line feeds for line ends': 400,
  'the boundary inside the image': 400,
  'no final boundary': 400,
  'boundaries only': 400,
  'a different boundary': 400,
  'an empty boundary': 400,
  'a boundary of 1,000 characters': 400,
  'no boundary': 400,
  'multipart/mixed': 415,
  'the image itself': 415,
}

/** The hostile forms, each with the status that the service answers: 201 where the form still has one readable file. */
export const formsWithStatus = () => {
  const forms = hostileForms().map((form) => ({ ...form, status: REFUSED[form.name] ?? 201 }))
  const unknown = Object.keys(REFUSED).filter((name) => !forms.some((form) => form.name === name))
  if (unknown.length > 0) throw new Error(`hostile-forms.ts has no form named ${unknown.join(', ')}`)
  return forms
}
