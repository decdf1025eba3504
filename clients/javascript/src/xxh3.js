// XXH3, the 64-bit hash with a seed and the default secret, in BigInt arithmetic.
//
// The algorithm and its constants are those of xxHash, Copyright (c) Yann Collet, BSD 2-Clause
// License, https://www.xxhash.com.

const M32 = 0xFFFFFFFFn;
const M64 = 0xFFFFFFFFFFFFFFFFn;

const PRIME32_1 = 0x9E3779B1n;
const PRIME32_2 = 0x85EBCA77n;
const PRIME32_3 = 0xC2B2AE3Dn;
const PRIME64_1 = 0x9E3779B185EBCA87n;
const PRIME64_2 = 0xC2B2AE3D27D4EB4Fn;
const PRIME64_3 = 0x165667B19E3779F9n;
const PRIME64_4 = 0x85EBCA77C2B2AE63n;
const PRIME64_5 = 0x27D4EB2F165667C5n;

const SECRET = Uint8Array.from(Buffer.from(
	'b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f' +
	'cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c' +
	'3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8' +
	'a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364' +
	'eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e' +
	'2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e', 'hex'));

const MIN_SECRET = 136;
const STRIPE = 64;
const STRIPES_PER_BLOCK = (SECRET.length - STRIPE) / 8;
const BLOCK = STRIPE * STRIPES_PER_BLOCK;

const view = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const word = (v, at) => v.getBigUint64(at, true);
const half = (v, at) => BigInt(v.getUint32(at, true));
const secretView = view(SECRET);

const xorshift = (h, bits) => h ^ (h >> bits);
const rotate = (h, bits) => ((h << bits) | (h >> (64n - bits))) & M64;

function swap(x, bytes) {
	let result = 0n;
	for (let i = 0; i < bytes; i++) {
		result = (result << 8n) | (x & 0xFFn);
		x >>= 8n;
	}
	return result;
}

function fold(a, b) {
	const product = a * b;
	return (product & M64) ^ (product >> 64n);
}

function avalanche(h) {
	h = (xorshift(h & M64, 37n) * 0x165667919E3779F9n) & M64;
	return xorshift(h, 32n);
}

function avalanche64(h) {
	h = (xorshift(h, 33n) * PRIME64_2) & M64;
	h = (xorshift(h, 29n) * PRIME64_3) & M64;
	return xorshift(h, 32n);
}

function upTo16(input, length, seed) {
	const n = BigInt(length);
	if (length > 8) {
		const low = word(input, 0) ^ ((word(secretView, 24) ^ word(secretView, 32)) + seed & M64);
		const high = word(input, length - 8) ^
			((word(secretView, 40) ^ word(secretView, 48)) - seed & M64);
		return avalanche(n + swap(low, 8) + high + fold(low, high));
	}
	if (length >= 4) {
		const mixed = seed ^ (swap(seed & M32, 4) << 32n);
		const keyed = (half(input, length - 4) + (half(input, 0) << 32n)) ^
			((word(secretView, 8) ^ word(secretView, 16)) - mixed & M64);
		let h = keyed ^ rotate(keyed, 49n) ^ rotate(keyed, 24n);
		h = (h * 0x9FB21C651E98DF25n) & M64;
		h ^= (h >> 35n) + n;
		h = (h * 0x9FB21C651E98DF25n) & M64;
		return xorshift(h, 28n);
	}
	if (length > 0) {
		const combined = BigInt(input.getUint8(0)) << 16n |
			BigInt(input.getUint8(length >> 1)) << 24n |
			BigInt(input.getUint8(length - 1)) | n << 8n;
		return avalanche64(combined ^ ((half(secretView, 0) ^ half(secretView, 4)) + seed & M64));
	}
	return avalanche64(seed ^ word(secretView, 56) ^ word(secretView, 64));
}

function mix16(input, at, secretAt, seed) {
	return fold(word(input, at) ^ (word(secretView, secretAt) + seed & M64),
		word(input, at + 8) ^ (word(secretView, secretAt + 8) - seed & M64));
}

function upTo128(input, length, seed) {
	let acc = BigInt(length) * PRIME64_1;
	for (let i = (length - 1) >> 5; i >= 0; i--) {
		acc += mix16(input, 16 * i, 32 * i, seed);
		acc += mix16(input, length - 16 * (i + 1), 32 * i + 16, seed);
	}
	return avalanche(acc);
}

function upTo240(input, length, seed) {
	let acc = BigInt(length) * PRIME64_1;
	for (let i = 0; i < 8; i++) {
		acc += mix16(input, 16 * i, 16 * i, seed);
	}
	acc = avalanche(acc);
	for (let i = 8; i < length >> 4; i++) {
		acc += mix16(input, 16 * i, 16 * (i - 8) + 3, seed);
	}
	return avalanche(acc + mix16(input, length - 16, MIN_SECRET - 17, seed));
}

function seededSecret(seed) {
	const secret = view(new Uint8Array(SECRET.length));
	for (let at = 0; at < SECRET.length; at += 16) {
		secret.setBigUint64(at, word(secretView, at) + seed & M64, true);
		secret.setBigUint64(at + 8, word(secretView, at + 8) - seed & M64, true);
	}
	return secret;
}

function accumulate(acc, input, at, secret, secretAt) {
	for (let i = 0; i < 8; i++) {
		const value = word(input, at + 8 * i);
		const keyed = value ^ word(secret, secretAt + 8 * i);
		acc[i ^ 1] = acc[i ^ 1] + value & M64;
		acc[i] = acc[i] + (keyed & M32) * (keyed >> 32n) & M64;
	}
}

function long(input, length, seed) {
	const secret = seededSecret(seed);
	const acc = [PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5,
		PRIME32_1];
	const last = SECRET.length - STRIPE;
	const blocks = Math.floor((length - 1) / BLOCK);
	for (let block = 0; block <= blocks; block++) {
		const stripes = block < blocks ? STRIPES_PER_BLOCK
			: Math.floor((length - 1 - BLOCK * blocks) / STRIPE);
		for (let i = 0; i < stripes; i++) {
			accumulate(acc, input, block * BLOCK + i * STRIPE, secret, 8 * i);
		}
		if (block < blocks) {
			for (let i = 0; i < 8; i++) {
				acc[i] = (xorshift(acc[i], 47n) ^ word(secret, last + 8 * i)) * PRIME32_1 & M64;
			}
		}
	}
	accumulate(acc, input, length - STRIPE, secret, last - 7);
	let result = BigInt(length) * PRIME64_1;
	for (let i = 0; i < 8; i += 2) {
		result += fold(acc[i] ^ word(secret, 11 + 8 * i), acc[i + 1] ^ word(secret, 19 + 8 * i));
	}
	return avalanche(result);
}

/** XXH3_64bits_withSeed of a Uint8Array; the seed is a bigint of 64 bits. */
export function xxh3(bytes, seed = 0n) {
	const input = view(bytes);
	const length = bytes.length;
	if (length <= 16) {
		return upTo16(input, length, seed);
	}
	if (length <= 128) {
		return upTo128(input, length, seed);
	}
	return length <= 240 ? upTo240(input, length, seed) : long(input, length, seed);
}
