// Shapes and tables: see "From a hash to a class" to "Dense tables" in docs/format.md.

import { require } from './errors.js';

export const MAX_COPIES = 8; // of a class in one table
const MAX_BLOCK = 32768; // buckets of a block
const MAX_BUCKETS = 393216000; // of a table
const MIN_BITS = 5; // of a fingerprint
const MAX_BITS = 32;
const TWO32 = 2 ** 32;

/** The number of at most 32 bits that begins with a bit of the bytes, the lowest bit first. */
function readBits(bytes, at, count) {
	let number = 0;
	const first = Math.floor(at / 8);
	for (let i = Math.floor((at + count + 7) / 8) - 1; i >= first; i--) {
		number = number * 256 + bytes[i];
	}
	return Math.floor(number / 2 ** (at % 8)) % 2 ** count;
}

/** Sets up to 32 bits, which are 0, to a number. */
function writeBits(bytes, at, count, number) {
	let rest = number * 2 ** (at % 8);
	for (let i = Math.floor(at / 8); i <= Math.floor((at + count - 1) / 8); i++) {
		bytes[i] |= rest % 256;
		rest = Math.floor(rest / 256);
	}
}

/** The numbers of a table: blocks N, buckets per block B, bits of a fingerprint f. */
export class Shape {
	constructor(blocks, buckets, bits) {
		require(blocks >= 1, `a table of ${blocks} blocks`);
		require(buckets >= 2 && buckets <= MAX_BLOCK && buckets % 2 === 0,
			`a block of ${buckets} buckets`);
		require(blocks * buckets <= MAX_BUCKETS, `a table of ${blocks * buckets} buckets`);
		require(bits >= MIN_BITS && bits <= MAX_BITS, `a fingerprint of ${bits} bits`);
		this.blocks = blocks;
		this.buckets = buckets;
		this.bits = bits;
		this.allBuckets = blocks * buckets;
		this.entries = 4 * this.allBuckets;
		this.pairs = this.allBuckets / 2; // P, the number of even buckets
		this.limit = BigInt(this.pairs) << BigInt(bits); // U, above all codes
		this.lastFingerprint = 2 ** bits - 1;
	}

	/** Whether this shape comes before another in the order of shapes. */
	isBefore(other) {
		return (this.allBuckets - other.allBuckets || this.bits - other.bits ||
			this.blocks - other.blocks) < 0;
	}

	/** The class of a hash, a bigint: a pair of buckets q and a fingerprint. */
	classOf(hash) {
		const x = hash * BigInt(this.pairs) >> 32n;
		const rest = x & 0xFFFFFFFFn;
		return {
			q: Number(x >> 32n),
			fingerprint: 1 + Number(rest * BigInt(this.lastFingerprint) >> 32n),
		};
	}

	/** The code of a hash, a bigint from 1 to U - 1. */
	code(hash) {
		const { q, fingerprint } = this.classOf(hash);
		return BigInt(q) << BigInt(this.bits) | BigInt(fingerprint);
	}

	/** c(): the sum, modulo B, of the two buckets of a fingerprint; odd and below B. */
	bucketSum(fingerprint) {
		let h = fingerprint;
		h = Math.imul(h ^ (h >>> 16), 0x85EBCA6B);
		h = Math.imul(h ^ (h >>> 13), 0xC2B2AE35);
		h = (h ^ (h >>> 16)) >>> 0;
		return Math.floor(h * this.buckets / TWO32) | 1;
	}

	/** The expected rate of false positives of a table of this shape alone. */
	rate(items, removable) {
		return removable
			? -Math.expm1(8 * items / this.entries * Math.log1p(-1 / this.lastFingerprint)) + 0
			: Math.min(1, items / (this.pairs * this.lastFingerprint));
	}
}

/** The shape that PostgreSQL chooses for this number of keys, 1 to 1,517,813,760. */
function shapeFor(keys, bits) {
	const buckets = keys >= 10000 ? Math.ceil(50 * keys / 193)
		: Math.floor(100 * keys / 383) + (keys >= 5000 ? 1 : 5);
	const blocks = Math.ceil(buckets / MAX_BLOCK);
	const inBlock = Math.ceil(buckets / blocks);
	return new Shape(blocks, inBlock + inBlock % 2, bits);
}

/** The shape of the first table of a filter with a capacity, 0 if that is unknown. */
export function firstShape(fpr, capacity) {
	let bits = MIN_BITS; // f0
	while (fpr * (2 ** bits - 1) < 7.72) {
		bits++;
	}
	return capacity ? shapeFor(capacity, bits) : shapeFor(2 ** 20, bits + 1);
}

/** A sorted list of codes in Elias-Fano form; bytes is set when the size is known. */
export class SparseTable {
	representation = 'sparse';

	constructor(shape, items, removable = true) {
		this.shape = shape;
		this.items = items;
		this.expectedFpr = shape.rate(items, removable);
		const most = 8n * BigInt(Math.max(items, 1));
		let lowBits = 0n; // l
		while (7n * (((shape.limit - 1n) >> lowBits) + 1n) > most) {
			lowBits++;
		}
		this.lowBits = Number(lowBits);
		this.highParts = Number((shape.limit - 1n) >> lowBits) + 1; // Z
		this.groups = Math.ceil(this.highParts / 16); // g
		this.indexSize = 12 * Math.ceil(this.groups / 8);
		this.stringBits = 16 * this.groups + items * (1 + this.lowBits);
		this.size = this.indexSize + Math.ceil(this.stringBits / 8);
	}

	/** The table of codes, ascending bigints; copies beyond the eighth are left out. */
	static ofCodes(shape, codes) {
		const kept = codes.filter((code, i) => i < MAX_COPIES || codes[i - MAX_COPIES] !== code);
		const table = new SparseTable(shape, kept.length);
		const { lowBits } = table;
		const lower = Math.min(lowBits, 32);
		const bytes = new Uint8Array(table.size);
		const view = new DataView(bytes.buffer);
		let at = 8 * table.indexSize;
		let start = 0;
		for (let j = 0, first = 0, next = 0; j < table.groups; j++, first = next) {
			for (; next < kept.length; next++) {
				const high = Number(kept[next] >> BigInt(lowBits));
				if (high >= 16 * j + 16) {
					break;
				}
				writeBits(bytes, at + high - 16 * j + next - first, 1, 1);
			}
			at += 16 + next - first;
			for (let i = first; i < next; i++, at += lowBits) {
				const low = BigInt.asUintN(lowBits, kept[i]);
				writeBits(bytes, at, lower, Number(BigInt.asUintN(32, low)));
				writeBits(bytes, at + lower, lowBits - lower, Number(low >> 32n));
			}
			const section = 12 * Math.floor(j / 8);
			if (j % 8 === 0) {
				start = first;
				view.setUint32(section, start, true);
			}
			bytes.fill(Math.min(next - start, 255), section + 4 + j % 8, section + 12);
		}
		table.bytes = bytes;
		return table;
	}

	/**
	 * The group that begins with a bit of the string: the number of codes of each high part, the
	 * bit from which on the low parts follow, and the bit after the group.
	 */
	group(base) {
		const runs = new Array(16).fill(0);
		let lowsAt = base;
		let high = 0;
		while (high < 16) {
			const count = Math.min(32, this.stringBits - lowsAt);
			require(count > 0, 'a sparse table with a group too long');
			let word = readBits(this.bytes, 8 * this.indexSize + lowsAt, count);
			for (let i = 0; i < count && high < 16; i++, lowsAt++, word >>>= 1) {
				if (word & 1) {
					runs[high]++;
				} else {
					high++;
				}
			}
		}
		const codes = lowsAt - base - 16;
		const end = lowsAt + codes * this.lowBits;
		require(end <= this.stringBits, 'a sparse table with more codes than items');
		return { runs, codes, lowsAt, end };
	}

	/** A low part: a bigint if low parts have more than 32 bits, otherwise a number. */
	low(group, number) {
		const at = 8 * this.indexSize + group.lowsAt + number * this.lowBits;
		if (this.lowBits <= 32) {
			return readBits(this.bytes, at, this.lowBits);
		}
		return BigInt(readBits(this.bytes, at, 32)) |
			BigInt(readBits(this.bytes, at + 32, this.lowBits - 32)) << 32n;
	}

	/** The group of a number, by the index. */
	findGroup(j) {
		const first = j - j % 8;
		const section = 12 * first / 8;
		const start = readBits(this.bytes, 8 * section, 32);
		if (this.bytes[section + 4 + j % 8] < 255) {
			const before = j === first ? 0 : this.bytes[section + 3 + j % 8];
			return this.group(16 * j + (start + before) * (1 + this.lowBits));
		}
		let group = this.group(16 * first + start * (1 + this.lowBits));
		for (let i = first; i < j; i++) {
			group = this.group(group.end);
		}
		return group;
	}

	/** How many copies the table has of a class: 0 to 8. */
	count({ q, fingerprint }) {
		const code = BigInt(q) << BigInt(this.shape.bits) | BigInt(fingerprint);
		const high = Number(code >> BigInt(this.lowBits));
		let low = BigInt.asUintN(this.lowBits, code);
		if (this.lowBits <= 32) {
			low = Number(low);
		}
		const group = this.findGroup(Math.floor(high / 16));
		const first = group.runs.slice(0, high % 16).reduce((sum, run) => sum + run, 0);
		let copies = 0;
		for (let i = first; i < first + group.runs[high % 16]; i++) {
			copies += this.low(group, i) === low ? 1 : 0;
		}
		return copies;
	}

	/** Throws a FormatError unless the table has its only form. */
	validate() {
		const { lowBits } = this;
		const { bits, limit } = this.shape;
		const index = new Uint8Array(this.indexSize);
		const view = new DataView(index.buffer);
		const isCleared = lowBits > 32 ? (low) => BigInt.asUintN(bits, low) === 0n
			: (low) => low % 2 ** bits === 0;
		const more = 2 ** Math.max(bits - lowBits, 0); // for the bits of a fingerprint in a high part
		let [base, items, start, copies, lastHigh, last] = [0, 0, 0, 0, -1, 0];
		for (let j = 0; j < this.groups; j++) {
			const group = this.group(base);
			let number = 0;
			for (let high = 16 * j; high < 16 * j + 16; high++) {
				for (let run = group.runs[high % 16]; run > 0; run--) {
					const low = this.low(group, number++);
					require(high > lastHigh || low >= last,
						'the codes of a sparse table do not ascend');
					copies = high === lastHigh && low === last ? copies + 1 : 1;
					require(copies <= MAX_COPIES, 'a code more than eight times');
					require(!isCleared(low) || high % more !== 0,
						'a sparse table with a fingerprint 0');
					lastHigh = high;
					last = low;
				}
			}
			const section = 12 * Math.floor(j / 8);
			if (j % 8 === 0) {
				start = items;
				view.setUint32(section, start, true);
			}
			items += group.codes;
			index.fill(Math.min(items - start, 255), section + 4 + j % 8, section + 12);
			base = group.end;
		}
		require(items === this.items, `a sparse table of ${this.items} items has ${items}`);
		require(items === 0 || (BigInt(lastHigh) << BigInt(lowBits) | BigInt(last)) < limit,
			'a sparse table with a code too large');
		require(index.every((byte, i) => byte === this.bytes[i]),
			'a sparse table with a wrong index');
		require(readBits(this.bytes, 8 * this.indexSize + base,
			8 * (this.size - this.indexSize) - base) === 0, 'bits behind the last group');
	}
}

// The 3,876 multisets of four nibbles in the order of their rank, each as four nibbles of a number,
// the smallest one lowest.
const MULTISETS = [];
for (let d = 0; d < 16; d++) {
	for (let c = 0; c <= d; c++) {
		for (let b = 0; b <= c; b++) {
			for (let a = 0; a <= b; a++) {
				MULTISETS.push(a | b << 4 | c << 8 | d << 12);
			}
		}
	}
}

/** Whether two nibbles of a multiset, which ascend, are equal. */
const hasEqual = (nibbles) => (nibbles & 15) === (nibbles >> 4 & 15) ||
	(nibbles >> 4 & 15) === (nibbles >> 8 & 15) || (nibbles >> 8 & 15) === nibbles >> 12;

/** Buckets of four entries, semi-sorted. */
export class DenseTable {
	representation = 'dense';

	constructor(shape, items, removable = true) {
		this.shape = shape;
		this.items = items;
		this.expectedFpr = shape.rate(items, removable);
		this.size = shape.allBuckets * (shape.bits - 1) / 2;
	}

	/** The four nibbles of a bucket of the table; FormatError if the rank is wrong. */
	nibbles(bucket) {
		const rank = readBits(this.bytes, 4 * (this.shape.bits - 1) * bucket, 12);
		require(rank < MULTISETS.length, `a bucket of rank ${rank}`);
		return MULTISETS[rank];
	}

	/** The four entries of a bucket. */
	bucket(bucket) {
		const highBits = this.shape.bits - 4;
		const nibbles = this.nibbles(bucket);
		const at = 4 * (this.shape.bits - 1) * bucket + 12;
		return [0, 1, 2, 3].map((i) =>
			16 * readBits(this.bytes, at + highBits * i, highBits) + (nibbles >> 4 * i & 15));
	}

	/** How many copies the table has of a class: 0 to 8. */
	count({ q, fingerprint }) {
		const { buckets } = this.shape;
		const block = Math.floor(q / (buckets / 2)) * buckets;
		const even = 2 * (q % (buckets / 2));
		const odd = (this.shape.bucketSum(fingerprint) - even + buckets) % buckets;
		return [...this.bucket(block + even), ...this.bucket(block + odd)]
			.filter((entry) => entry === fingerprint).length;
	}

	/** Throws a FormatError unless buckets and items are right. */
	validate() {
		let items = 0;
		for (let bucket = 0; bucket < this.shape.allBuckets; bucket++) {
			const nibbles = this.nibbles(bucket);
			if (nibbles & 15 && !hasEqual(nibbles)) {
				items += 4; // as most buckets of a full table
				continue;
			}
			const entries = this.bucket(bucket);
			for (let i = 0; i < 4; i++) {
				// Nibbles ascend by the rank; of equal ones the other bits must.
				require(i === 0 || entries[i] % 16 !== entries[i - 1] % 16 ||
					entries[i - 1] <= entries[i], 'entries of a bucket are not in their order');
				items += entries[i] === 0 ? 0 : 1;
			}
		}
		require(items === this.items, `a dense table of ${this.items} items has ${items}`);
	}
}
