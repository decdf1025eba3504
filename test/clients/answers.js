// Answers for the package in JavaScript; see compare.py. Each line of standard input is JSON: keys of
// a key type, and a filter to look them up in, in hexadecimal or to be made. So is each line of the
// answer.

import { createInterface } from 'node:readline';

import { CuckooFilter, FormatError, KeyValueError, hashKey } from 'pgcuckoo';

// What JSON has no numbers for
const revive = (name, value) => value?.$int !== undefined ? BigInt(value.$int)
	: value?.$float !== undefined ? Number(value.$float) : value;

/** The hash of a key, or null if it is refused. */
function hash(keyType, key, seed) {
	try {
		return String(hashKey(keyType, key, seed));
	} catch (error) {
		if (error instanceof KeyValueError) {
			return null;
		}
		throw error;
	}
}

function answer({ filter, keyType, keys, made, seed = 0n }) {
	if (filter === undefined && made === undefined) {
		return { hashes: keys.map((key) => hash(keyType, key, seed)) };
	}
	try {
		const f = made ? CuckooFilter.build(made.keys, keyType, made.capacity, made.fpr, made.seed)
			: new CuckooFilter(Buffer.from(filter, 'hex'));
		const info = Object.fromEntries(Object.entries(f.info()).map(([name, value]) =>
			[name.replace(/[A-Z]/g, (letter) => '_' + letter.toLowerCase()), typeof value === 'bigint' ? String(value) : value]));
		return { data: f.data.toString('hex'), counts: keys.map((key) => f.count(key, keyType)), ...info };
	} catch (error) {
		if (error instanceof FormatError) {
			return { refused: true };
		}
		throw error;
	}
}

for await (const line of createInterface({ input: process.stdin })) {
	console.log(JSON.stringify(answer(JSON.parse(line, revive))));
}
