// Makes and reads filters of the PostgreSQL extension cuckoo, as its docs/format.md says.

export { CuckooFilter } from './filter.js';
export { CuckooFilterError, FormatError, KeyTypeError, KeyValueError } from './errors.js';
export { hashKey, shard } from './keys.js';
