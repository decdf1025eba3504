// Not run: tsc --strict checks that index.d.ts has what programs use.

import { CuckooFilter, CuckooFilterError, FormatError, KeyTypeError, KeyValueError, hashKey, shard }
	from 'pgcuckoo';
import type { Info, KeyType, Table } from 'pgcuckoo';

const f: CuckooFilter = new CuckooFilter(new Uint8Array(44));
const info: Info = CuckooFilter.fromText('', { validate: false }).info();
const made: [Uint8Array, string] = [CuckooFilter.build([1, 2n, null], 'integer').data,
	CuckooFilter.build(new Set(['x']), 'text', 1000, 0.01, f.seed).toText()];
const tables: readonly Table[] = f.subfilters;
const keyType: KeyType = ['array', ['composite', ['integer', 'text']]];
const constant = ['multirange', ['composite', ['integer']]] as const;
const same: [boolean, bigint] = [f.equals(info), hashKey(['array', 'bigint'], [1])];
const answers: [boolean, boolean, boolean, boolean[], number, number] = [
	f.contains('x'), f.containsAny(['x'], 'text'), f.containsAll(new Set([1, 2])),
	f.containsEach([[[1, 'x']]], keyType), f.count(5n), f.countHash(hashKey('integer', 1, f.seed))];
const nested: boolean = f.contains([], constant);
const numbers: number[] = [shard('text', 'x', 10), tables[0].shape.bits, info.capacity ?? 0];
const seed: bigint | null = info.seed;
const errors: CuckooFilterError[] = [new FormatError(), new KeyTypeError(), new KeyValueError('x')];
// @ts-expect-error: not a key type
hashKey('real', 1);
// @ts-expect-error: text is for fromText()
new CuckooFilter('AQ==');

// @ts-expect-error: the key type is needed
CuckooFilter.build([1]);

export { answers, errors, made, nested, numbers, same, seed };
