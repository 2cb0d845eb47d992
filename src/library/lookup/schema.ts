import * as z from 'zod/mini'
import { SearchTerm } from '../../values/fields'

export const CatalogueQuery = z.lazy(() => z.object({ q: SearchTerm }))
