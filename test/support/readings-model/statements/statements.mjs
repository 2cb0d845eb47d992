import { createBlocks } from './blocks.mjs'
import { createImports } from './imports.mjs'
import { createRequests } from './requests.mjs'
import { createSchema } from './schema.mjs'
import { createTrash } from './trash.mjs'
import { createUndo } from './undo.mjs'

/**
 * The statements of each request, in order.
 * @param broken whether a part of the design is left out, to show that the model finds it
 */
export const createStatements = (broken) => {
  const blocks = createBlocks(broken)
  const undo = createUndo(broken, blocks)
  return {
    schema: createSchema(broken),
    /** The columns of a book, to see whether it has changed since a row of an import was planned. */
    columns: undo.columns,
    requests: {
      ...createRequests(broken, blocks),
      ...createImports(broken, blocks, undo),
      ...createTrash(broken, blocks, undo),
    },
  }
}
