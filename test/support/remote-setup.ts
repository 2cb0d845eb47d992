import { beforeEach } from 'vitest'
import { trackTest } from './target'

beforeEach(trackTest)
