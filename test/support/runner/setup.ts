import './long-deadlines'
import { rememberHashes } from '../hashes'
import { emptyDatabases } from './empty-databases'

rememberHashes()
await emptyDatabases()
