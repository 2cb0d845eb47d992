import { beforeEach } from 'vitest'
import { setCurrentTest } from '../target'

beforeEach(setCurrentTest)
