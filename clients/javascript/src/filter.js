// A filter: how it is made from keys or read, and lookups in it.

import { inspect } from 'node:util';

import { FormatError, KeyTypeError, KeyValueError, require } from './errors.js';
import { NAMES, hashKey, isNested, numberOf, signature } from './keys.js';
import { DenseTable, MAX_COPIES, Shape, SparseTable, firstShape } from './tables.js';

const NOT_REMOVABLE = 1; // flags
const UNSET = 2;

const HEADER_BYTES = 36;
const DIRECTORY_BYTES = 12; // for each table
const END_BYTES = 8; // zeros
const MIN_BYTES = HEADER_BYTES + END_BYTES;
const MAX_BYTES = 786432000; // 750 MiB
const MAX_TABLES = 16;
const MAX_CAPACITY = 1517813760;
const MIN_FPR = 2e-8;
const MAX_FPR = 0.1;
const UNCOUNTED = 1024; // keys of a filter without a capacity

const isZero = (bytes, from, to) => bytes.subarray(from, to).every((byte) => byte === 0);

function checkNumber(value, name) {
	if (typeof value !== 'number') {
		throw new TypeError(`${name}: ${String(value)} is not a number`);
	}
}

/** The capacity as the header has it: 0 for null; a RangeError if it is out of range. */
function checkCapacity(capacity) {
	if (capacity === null) {
		return 0;
	}
	checkNumber(capacity, 'capacity');
	if (!(capacity >= 1)) { // as a NaN is not
		throw new RangeError(`capacity must be at least 1 key: ${capacity}`);
	}
	if (capacity > MAX_CAPACITY) {
		throw new RangeError(`capacity is too large for a cuckoofilter: ${capacity}`);
	}
	return Math.ceil(capacity);
}

function checkFpr(fpr) {
	checkNumber(fpr, 'fpr');
	if (!(fpr >= MIN_FPR && fpr <= MAX_FPR)) {
		throw new RangeError(`false-positive rate must be between 2e-08 and 0.1: ${fpr}${
			fpr >= 1 ? ' (the capacity comes before the rate)' : ''}`);
	}
}

/** The seed, signed or unsigned, as an unsigned bigint. */
function checkSeed(seed) {
	if (typeof seed !== 'bigint' && !Number.isSafeInteger(seed)) {
		throw new TypeError(`seed: ${String(seed)} is not a bigint or a safe integer`);
	}
	if (seed < -(2n ** 63n) || seed >= 2n ** 64n) {
		throw new RangeError(`seed has more than 64 bits: ${seed}`);
	}
	return BigInt.asUintN(64, BigInt(seed));
}

/** The keys; a TypeError for a single one, whose characters would be taken for keys. */
function checkKeys(keys) {
	if (typeof keys === 'string' || keys instanceof Uint8Array) {
		throw new TypeError(`keys: ${inspect(keys)} is one key, not a list of keys`);
	}
	return keys;
}

function checkSize(size) {
	if (size > MAX_BYTES) {
		throw new RangeError(`cuckoofilter would be too large: ${size} bytes`);
	}
}

/** The signature that all keys have; 0 if there are none. */
function commonSignature(keyType, keys) {
	const found = new Set(isNested(numberOf(keyType)) ? keys.map((key) => signature(keyType, key)) : []);
	if (found.size > 1) {
		throw new KeyTypeError(`key types differ between the keys of type ${inspect(keyType)}`);
	}
	return [...found][0] ?? 0;
}

export class CuckooFilter {
	#bytes;
	#view;
	#keyType;
	#flags;
	#signature;
	#targetFpr;
	#capacity;
	#seed;
	#partial;
	#hashes = 0;

	constructor(data, { validate = true } = {}) {
		if (!(data instanceof Uint8Array)) {
			throw new TypeError(`a filter is made of a Uint8Array, such as a Buffer${
				typeof data === 'string' ? '; for its text form there is fromText()' : ''}`);
		}
		this.#bytes = new Uint8Array(data);
		this.#view = new DataView(this.#bytes.buffer);
		const tables = this.#readHeader();
		this.subfilters = this.#readDirectory(tables);
		this.#readContent(validate);
		Object.freeze(this.subfilters);
	}

	static fromText(text, options) {
		const line = text.replace(/\r?\n$/, ''); // the end of a line that COPY wrote
		// Repeated groups would fill the stack if the text is long.
		require(line.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(line), 'not base64');
		return new CuckooFilter(Buffer.from(line, 'base64'), options);
	}

	static build(keys, keyType, capacity = null, fpr = 0.001, seed = 0n) {
		const number = numberOf(keyType);
		let room = checkCapacity(capacity);
		checkFpr(fpr);
		const seedBits = checkSeed(seed);

		const known = [...checkKeys(keys)].filter((key) => key !== null);
		const keySignature = commonSignature(keyType, known);
		const hashes = BigUint64Array.from(known, (key) => hashKey(keyType, key, seedBits)).sort()
			.filter((hash, i, all) => i === 0 || hash !== all[i - 1]);
		if (hashes.length > (room || UNCOUNTED)) {
			room = hashes.length;
		}
		const shape = firstShape(fpr, room);
		checkSize(MIN_BYTES + DIRECTORY_BYTES + new DenseTable(shape, 0).size);
		// A larger hash never has a smaller code.
		const table = SparseTable.ofCodes(shape, hashes.map((hash) => shape.code(hash)));
		checkSize(MIN_BYTES + DIRECTORY_BYTES + table.size);

		const bytes = new Uint8Array(MIN_BYTES + DIRECTORY_BYTES + table.size);
		const view = new DataView(bytes.buffer);
		bytes[0] = 1;
		bytes[2] = known.length ? number : 0;
		view.setUint32(4, keySignature, true);
		view.setFloat64(8, fpr, true);
		view.setBigUint64(16, BigInt(room), true);
		view.setBigUint64(24, seedBits, true);
		bytes[32] = 1;
		view.setUint32(HEADER_BYTES, shape.blocks, true);
		view.setUint32(HEADER_BYTES + 4, table.items, true);
		view.setUint16(HEADER_BYTES + 8, shape.buckets, true);
		bytes[HEADER_BYTES + 10] = shape.bits;
		bytes.set(table.bytes, HEADER_BYTES + DIRECTORY_BYTES);
		return new CuckooFilter(bytes, { validate: false });
	}

	get data() {
		return Buffer.from(this.#bytes);
	}

	equals(other) {
		return other instanceof CuckooFilter && Buffer.compare(this.#bytes, other.#bytes) === 0;
	}

	toText() {
		return this.data.toString('base64');
	}

	/** The number of tables. */
	#readHeader() {
		const bytes = this.#bytes;
		require(bytes.length > 0, 'no bytes');
		require(bytes[0] < 2 || bytes[0] > 15, `version ${bytes[0]} of the format is not known`);
		require(bytes[0] === 1, `not a filter: it begins with the byte ${bytes[0]}`);
		require(bytes.length >= MIN_BYTES, `only ${bytes.length} bytes`);
		require(bytes.length <= MAX_BYTES, `${bytes.length} bytes are more than 750 MiB`);

		const content = bytes[1];
		const tables = bytes[32];
		this.#keyType = bytes[2];
		this.#flags = bytes[3];
		this.#signature = this.#view.getUint32(4, true);
		this.#targetFpr = this.#view.getFloat64(8, true);
		this.#capacity = this.#view.getBigUint64(16, true);
		this.#seed = this.#view.getBigUint64(24, true);
		this.#partial = content === 1;
		require(content <= 1, `content ${content}`);
		require(this.#keyType === 0 || NAMES.has(this.#keyType), `key type ${this.#keyType} is not known`);
		require(this.#flags <= NOT_REMOVABLE + UNSET, `flags ${this.#flags}`);
		require(!this.#partial || this.#flags === 0, 'a partial state with flags');
		require(isZero(bytes, 33, 36), 'bytes 33 to 35 are not 0');
		if (this.#flags & UNSET) {
			require(this.#flags === UNSET && isZero(bytes, 1, 3) && isZero(bytes, 4, 33),
				'an unset filter with parameters');
			return tables;
		}
		require((this.#signature !== 0) === isNested(this.#keyType),
			`signature ${this.#signature} of key type ${this.#keyType}`);
		// A NaN fails, too.
		require(this.#targetFpr >= MIN_FPR && this.#targetFpr <= MAX_FPR,
			`target rate ${this.#targetFpr}`);
		require(this.#capacity <= BigInt(MAX_CAPACITY), `capacity ${this.#capacity}`);
		if (this.#partial) {
			require(tables === 0, 'a partial state with tables');
		} else {
			require(tables >= 1 && tables <= MAX_TABLES, `${tables} tables`);
		}
		return tables;
	}

	/** The tables, still without bytes. */
	#readDirectory(count) {
		const view = this.#view;
		const tables = [];
		require(this.#bytes.length >= MIN_BYTES + DIRECTORY_BYTES * count,
			'the directory is cut off');
		for (let i = 0; i < count; i++) {
			const at = HEADER_BYTES + DIRECTORY_BYTES * i;
			const items = view.getUint32(at + 4, true);
			const shape = new Shape(view.getUint32(at, true), view.getUint16(at + 8, true),
				view.getUint8(at + 10));
			const representation = view.getUint8(at + 11);
			require(representation <= 1, `representation ${representation}`);
			require(representation === 0 || items <= shape.entries,
				`a dense table of ${items} items`);
			require(items === 0 || this.#keyType !== 0, 'items without a key type');
			require(i === 0 || tables[i - 1].shape.isBefore(shape),
				'tables are not in the order of shapes');
			tables.push(new [SparseTable, DenseTable][representation](shape, items,
				(this.#flags & NOT_REMOVABLE) === 0));
		}
		return tables;
	}

	#readContent(validate) {
		const end = this.#bytes.length - END_BYTES;
		let at = HEADER_BYTES + DIRECTORY_BYTES * this.subfilters.length;
		if (this.#partial) {
			require((end - at) % 8 === 0, 'a hash is cut off');
			require(end === at || this.#keyType !== 0, 'hashes without a key type');
		} else {
			require(end === this.subfilters.reduce((sum, table) => sum + table.size, at),
				`${this.#bytes.length} bytes are not what the directory describes`);
		}
		require(isZero(this.#bytes, end), 'the last eight bytes are not 0');
		for (const table of this.subfilters) {
			table.bytes = this.#bytes.subarray(at, at + table.size);
			at += table.size;
			if (validate) {
				table.validate();
			}
		}
		for (let last = -1n; at < end; at += 8) {
			const hash = this.#view.getBigUint64(at, true);
			require(!validate || hash > last, 'hashes do not ascend');
			last = hash;
			this.#hashes++;
		}
	}

	get keyType() {
		return NAMES.get(this.#keyType) ?? null;
	}

	/** The seed of the hashes of keys, 64 bits unsigned. */
	get seed() {
		return this.#seed;
	}

	info() {
		const found = [...new Set(this.subfilters.map((table) => table.representation))];
		const unset = (this.#flags & UNSET) !== 0;
		const removable = (this.#flags & NOT_REMOVABLE) === 0;
		const rates = this.subfilters.map((table) => table.expectedFpr);
		return {
			formatVersion: 1,
			representation: this.#partial ? 'partial' : found.length > 1 ? 'mixed' : found[0] ?? null,
			keyType: this.keyType,
			items: this.subfilters.reduce((sum, table) => sum + table.items, this.#hashes),
			capacity: Number(this.#capacity) || null,
			targetFpr: unset ? null : this.#targetFpr,
			expectedFpr: removable
				? -Math.expm1(rates.reduce((sum, rate) => sum + Math.log1p(-rate), 0)) + 0
				: Math.min(1, rates.reduce((sum, rate) => sum + rate, 0)),
			subfilters: this.subfilters.length,
			seed: unset ? null : BigInt.asIntN(64, this.#seed),
			removable,
		};
	}

	#refusePartial() {
		if (this.#partial) {
			throw new FormatError('a partial state is no filter yet');
		}
	}

	countHash(hash) {
		this.#refusePartial();
		return this.subfilters.reduce(
			(sum, table) => Math.min(MAX_COPIES, sum + table.count(table.shape.classOf(hash))), 0);
	}

	count(key, keyType = this.keyType) {
		this.#refusePartial();
		if (key === null || key === undefined) {
			throw new KeyValueError('NULL is no key');
		}
		if (this.#keyType === 0) {
			return 0;
		}
		if (numberOf(keyType) !== this.#keyType) {
			throw new KeyTypeError(
				`the keys of the filter are of type ${this.keyType}, not ${inspect(keyType)}`);
		}
		if (signature(keyType, key) !== this.#signature) {
			throw new KeyTypeError(
				`the filter has another ${this.keyType} than ${inspect(keyType)}`);
		}
		return this.countHash(hashKey(keyType, key, this.#seed));
	}

	contains(key, keyType) {
		return this.count(key, keyType) > 0;
	}

	containsEach(keys, keyType) {
		return Array.from(checkKeys(keys), (key) => this.contains(key, keyType));
	}

	containsAny(keys, keyType) {
		for (const key of checkKeys(keys)) {
			if (this.contains(key, keyType)) {
				return true;
			}
		}
		return false;
	}

	containsAll(keys, keyType) {
		for (const key of checkKeys(keys)) {
			if (!this.contains(key, keyType)) {
				return false;
			}
		}
		return true;
	}
}
