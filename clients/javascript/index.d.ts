/**
 * A key type is the name of a scalar one, or a pair of a word and what is inside. Some types in SQL
 * are of the same key type, and their names in parentheses will do, too. real and char(n) are
 * missing: round keys of real first, for double precision, and remove the blanks at the end of keys
 * of char(n), for text. Keys of each key type are:
 *
 * - integer (smallint, int2, int, int4, bigint, int8, oid): bigint, a safe integer, or a string of
 *   digits
 * - boolean (bool): boolean
 * - "char", text (varchar, character varying, name), enum: string, or Uint8Array of UTF-8
 * - bytea: Uint8Array, or a string such as \x00ff
 * - bit (varbit, bit varying): string of 0 and 1
 * - double precision (float8): number
 * - numeric (decimal): string, bigint, or a safe integer
 * - money: bigint or a safe integer, the smallest unit
 * - uuid: string
 * - date: string such as 2026-01-31; or days since 2000-01-01
 * - time (time without time zone): string such as 13:14:15.5; or microseconds
 * - timetz (time with time zone): string such as 13:14:15+02; or an array of microseconds and
 *   seconds west of UTC
 * - timestamp (timestamp without time zone): string without a time zone; or microseconds since
 *   2000-01-01
 * - timestamptz (timestamp with time zone): Date, string with a time zone; or microseconds since
 *   2000-01-01 UTC
 * - interval: an object as node-postgres has it; or an array of months, days and microseconds
 * - inet (cidr), macaddr, macaddr8: string
 * - pg_lsn: bigint, a safe integer, or a string such as 16/B374D848
 * - xid8: bigint, a safe integer, or a string of digits
 * - jsonb: string of JSON
 * - ['array', element]: [1, null]; or { bounds: [[2, 0]], elements: [1, 2] } with lengths and lower
 *   bounds
 * - ['composite', [column, ...]]: [1, 'x']
 * - 'record', an anonymous row: [['integer', 1], ['text', 'x']]
 * - ['range', bound]: [1, 5, '[)'] in canonical form, with null for no bound; or 'empty'
 * - ['multirange', bound]: an array of ranges
 */
export type KeyType =
	| 'integer' | 'boolean' | '"char"' | 'text' | 'bytea' | 'bit' | 'double precision' | 'numeric'
	| 'money' | 'uuid' | 'date' | 'time' | 'timetz' | 'timestamp' | 'timestamptz' | 'interval'
	| 'inet' | 'macaddr' | 'macaddr8' | 'pg_lsn' | 'xid8' | 'enum' | 'jsonb' | 'record'
	// Other names in SQL
	| 'smallint' | 'int2' | 'int' | 'int4' | 'bigint' | 'int8' | 'oid' | 'bool' | 'varchar'
	| 'character varying' | 'name' | 'varbit' | 'bit varying' | 'float8' | 'decimal'
	| 'time without time zone' | 'time with time zone' | 'timestamp without time zone'
	| 'timestamp with time zone' | 'cidr'
	| readonly ['array' | 'range' | 'multirange', KeyType]
	| readonly ['composite', readonly KeyType[]];

/** What every error of this package is. */
export class CuckooFilterError extends Error {}
/** The bytes are not a valid filter, or not one that keys can be looked up in. */
export class FormatError extends CuckooFilterError {}
/** Not a key type, or not the key type of the filter. */
export class KeyTypeError extends CuckooFilterError {}
/** The value is not one of its key type. */
export class KeyValueError extends CuckooFilterError {}

/** What cuckoo_info() says of a filter, as far as the format determines it. */
export interface Info {
	formatVersion: number;
	/** null if the filter is unset */
	representation: 'sparse' | 'dense' | 'mixed' | 'partial' | null;
	/** null if the filter has not seen a key yet */
	keyType: string | null;
	/** of a partial state the number of its hashes */
	items: number;
	/** null if unknown */
	capacity: number | null;
	/** null if the filter is unset */
	targetFpr: number | null;
	expectedFpr: number;
	subfilters: number;
	/** signed, as in SQL; null if the filter is unset */
	seed: bigint | null;
	removable: boolean;
}

export interface Table {
	readonly representation: 'sparse' | 'dense';
	readonly items: number;
	readonly expectedFpr: number;
	/** The table's size in bytes. */
	readonly size: number;
	readonly shape: {
		readonly blocks: number;
		/** buckets of one block */
		readonly buckets: number;
		/** bits of a fingerprint */
		readonly bits: number;
	};
}

/**
 * A filter or partial state.
 *
 * Every byte is validated. With validate: false, tables and hashes are not, which is for bytes from
 * a trusted server: a lookup can then throw a FormatError, or give a wrong answer.
 *
 * A lookup takes a key and, optionally, its key type. Without a key type the key is taken as one of
 * the filter's: this is possible if that is a scalar key type or jsonb. A KeyTypeError means that
 * the filter has keys of another key type, a KeyValueError that the value is not one of the key
 * type.
 *
 * A filter never changes. SQL adds keys to it and removes them, and combines filters: see the README.
 */
export class CuckooFilter {
	/** The filter of the bytes of f::bytea; throws a FormatError if they are none. */
	constructor(data: Uint8Array, options?: { validate?: boolean });
	/** The filter of PostgreSQL's text form, base64; also of a line of it, as COPY writes it. */
	static fromText(text: string, options?: { validate?: boolean }): CuckooFilter;
	/**
	 * The filter of the distinct keys, as cuckoo_from_array() makes it in SQL. A null is skipped.
	 * Throws a RangeError if a parameter is out of range or the filter would be too large, and a
	 * KeyValueError if a key is not one of the key type.
	 *
	 * @param capacity how many keys the filter is for, if more will be added or it will be combined
	 * with other filters; null: the number of the keys
	 * @param fpr the rate of false positives: 2e-8 to 0.1; by default 0.001
	 * @param seed 64 bits, signed or unsigned; by default 0
	 */
	static build(keys: Iterable<unknown>, keyType: KeyType, capacity?: number | null, fpr?: number,
		seed?: bigint | number): CuckooFilter;
	/** A copy of the bytes, in Node.js a Buffer. */
	readonly data: Uint8Array;
	/** Whether the bytes are equal, as = compares filters in SQL. */
	equals(other: unknown): boolean;
	/** PostgreSQL's text form, base64. */
	toText(): string;
	/** The name of the key type, or null if the filter has not seen a key. */
	readonly keyType: string | null;
	/** The seed of the hashes of keys, 64 bits unsigned. */
	readonly seed: bigint;
	readonly subfilters: readonly Table[];
	/** What the filter is. */
	info(): Info;
	/** Whether the filter may hold a key; "no" is always right. */
	contains(key: unknown, keyType?: KeyType): boolean;
	/** How often the filter contains a key: 0 to 8. */
	count(key: unknown, keyType?: KeyType): number;
	/** The count, 0 to 8, of a key with this hash, which was made with the filter's seed. */
	countHash(hash: bigint): number;
	/** For each key whether the filter may hold it. */
	containsEach(keys: Iterable<unknown>, keyType?: KeyType): boolean[];
	/** Whether the filter may hold at least one key; no, if there are no keys. */
	containsAny(keys: Iterable<unknown>, keyType?: KeyType): boolean;
	/** Whether the filter may hold every key; yes, if there are no keys. */
	containsAll(keys: Iterable<unknown>, keyType?: KeyType): boolean;
}

/** The hash of a key, 64 bits unsigned; the seed may be signed or unsigned. */
export function hashKey(keyType: KeyType, value: unknown, seed?: bigint | number): bigint;

/** What cuckoo_shard(value, shards) gives: 0 to shards - 1; shards is 1 to 2^31 - 1. */
export function shard(keyType: KeyType, value: unknown, shards: number): number;
