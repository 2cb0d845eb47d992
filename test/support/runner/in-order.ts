import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Runs the files whose paths contain these names first, in this order. */
export const inOrder = (names: string[]) =>
  class extends BaseSequencer {
    override async sort(files: TestSpecification[]) {
      const rank = ({ moduleId }: TestSpecification) => {
        const found = names.findIndex((name) => moduleId.includes(`/${name}`))
        return found < 0 ? names.length : found
      }
      return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other))
    }
  }
