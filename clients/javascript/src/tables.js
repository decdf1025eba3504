// Shapes and tables: see "From a hash to a class" to "Dense tables" in docs/format.md.

import { require } from './errors.js';

export const MAX_COPIES = 8; // of a class in one table
const MAX_BLOCK = 32768; // buckets of a block
const MAX_BUCKETS = 393216000; // of a table
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

/** The same of up to 64 bits, as a bigint. */
function readLong(bytes, at, count) {
	if (count <= 32) {
		return BigInt(readBits(bytes, at, count));
	}
	return BigInt(readBits(bytes, at, 32)) |
		BigInt(readBits(bytes, at + 32, count - 32)) << 32n;
}

/** The numbers of a table: blocks N, buckets per block B, bits of a fingerprint f. */
export class Shape {
	constructor(blocks, buckets, bits) {
		require(blocks >= 1, `a table of ${blocks} blocks`);
		require(buckets >= 2 && buckets <= MAX_BLOCK && buckets % 2 === 0,
			`a block of ${buckets} buckets`);
		require(blocks * buckets <= MAX_BUCKETS, `a table of ${blocks * buckets} buckets`);
		require(bits >= 5 && bits <= 32, `a fingerprint of ${bits} bits`);
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

	/** c(): the sum, modulo B, of the two buckets of a fingerprint; odd and below B. */
	bucketSum(fingerprint) {
		let h = fingerprint;
		h = Math.imul(h ^ (h >>> 16), 0x85EBCA6B);
		h = Math.imul(h ^ (h >>> 13), 0xC2B2AE35);
		h = (h ^ (h >>> 16)) >>> 0;
		return Math.floor(h * this.buckets / TWO32) | 1;
	}

	/** ln(1 - rate) of a table of this shape, 0 or negative. */
	rateLog(items) {
		return 8 * items / this.entries * Math.log1p(-1 / this.lastFingerprint);
	}
}

/** A sorted list of codes in Elias-Fano form; bytes is set when the size is known. */
export class SparseTable {
	representation = 'sparse';

	constructor(shape, items) {
		this.shape = shape;
		this.items = items;
		const most = BigInt(3 * Math.max(items, 1));
		let lowBits = 0n; // l
		while (2n * (((shape.limit - 1n) >> lowBits) + 1n) > most) {
			lowBits++;
		}
		this.lowBits = Number(lowBits);
		this.highParts = Number((shape.limit - 1n) >> lowBits) + 1; // Z
		this.groups = Math.ceil(this.highParts / 64); // g
		this.bitsAt = 32 * (this.groups + 1); // where the string of bits begins
		this.stringBits = this.highParts + items * (1 + this.lowBits);
		this.size = 4 * (this.groups + 1) + Math.ceil(this.stringBits / 8);
	}

	get expectedFpr() {
		return -Math.expm1(this.shape.rateLog(this.items)) + 0;
	}

	/** How many codes are in the groups before j. */
	start(j) {
		return readBits(this.bytes, 32 * j, 32);
	}

	/**
	 * A group's number of codes, where its upper part and low parts begin, and the number of
	 * its high parts.
	 */
	group(j) {
		const start = this.start(j);
		const end = this.start(j + 1);
		require(start <= end && end <= this.items, 'the starts of a sparse table do not ascend');
		const highParts = Math.min(64, this.highParts - 64 * j);
		const at = this.bitsAt + 64 * j + start * (1 + this.lowBits);
		return { codes: end - start, at, lowsAt: at + highParts + end - start, highParts };
	}

	low(group, number) {
		return readLong(this.bytes, group.lowsAt + number * this.lowBits, this.lowBits);
	}

	/** How many copies the table has of a class: 0 to 8. */
	count({ q, fingerprint }) {
		const code = BigInt(q) << BigInt(this.shape.bits) | BigInt(fingerprint);
		const high = Number(code >> BigInt(this.lowBits));
		const low = BigInt.asUintN(this.lowBits, code);
		const group = this.group(Math.floor(high / 64));
		let before = 0;
		let copies = 0;
		let at = group.at;
		for (let zeros = high % 64; zeros > 0; at++) {
			if (readBits(this.bytes, at, 1) === 0) {
				zeros--;
			} else {
				before++;
			}
		}
		for (; readBits(this.bytes, at, 1) === 1; at++, before++) {
			if (this.low(group, before) === low) {
				copies++;
			}
		}
		return copies;
	}

	/** Throws a FormatError unless the table has its only form. */
	validate() {
		require(this.start(0) === 0, 'the first start of a sparse table is not 0');
		require(this.start(this.groups) === this.items,
			'the last start of a sparse table is not its items');
		const bits = BigInt(this.shape.bits);
		let last = -1n;
		let copies = 0;
		for (let j = 0; j < this.groups; j++) {
			const group = this.group(j);
			let number = 0;
			let bit = 1;
			for (let high = 64 * j, at = group.at; at < group.lowsAt; at++) {
				bit = readBits(this.bytes, at, 1);
				if (bit === 0) {
					high++;
					continue;
				}
				require(number < group.codes, 'a wrong upper part in a sparse table');
				const code = BigInt(high) << BigInt(this.lowBits) | this.low(group, number++);
				require(code >= last, 'the codes of a sparse table do not ascend');
				copies = code === last ? copies + 1 : 1;
				require(copies <= MAX_COPIES, 'a code more than eight times');
				require(code < this.shape.limit && BigInt.asUintN(Number(bits), code) !== 0n,
					`a sparse table with the code ${code}`);
				last = code;
			}
			require(number === group.codes && bit === 0, 'a wrong upper part in a sparse table');
		}
		const used = this.bitsAt + this.stringBits;
		require(readBits(this.bytes, used, 8 * this.size - used) === 0,
			'bits behind the last group');
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

/** Buckets of four entries, semi-sorted. */
export class DenseTable {
	representation = 'dense';

	constructor(shape, items) {
		this.shape = shape;
		this.items = items;
		this.size = shape.allBuckets * (shape.bits - 1) / 2;
	}

	get expectedFpr() {
		return -Math.expm1(this.shape.rateLog(this.items)) + 0;
	}

	/** The four entries of a bucket of the table; FormatError if the rank is wrong. */
	bucket(bucket) {
		const at = 4 * (this.shape.bits - 1) * bucket;
		const highBits = this.shape.bits - 4;
		const rank = readBits(this.bytes, at, 12);
		require(rank < MULTISETS.length, `a bucket of rank ${rank}`);
		return [0, 1, 2, 3].map((i) => 16 * readBits(this.bytes, at + 12 + highBits * i, highBits) +
			(MULTISETS[rank] >> 4 * i & 15));
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
