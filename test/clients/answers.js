// Answers for the reader in JavaScript; see test.py. Each line of standard input is JSON: a filter
// in hexadecimal, and keys of a key type. So is each line of the answer.

import { createInterface } from 'node:readline';

import { CuckooFilter, FormatError, hashKey } from 'pgcuckoo';

// What JSON has no numbers for
const revive = (name, value) => value?.$int !== undefined ? BigInt(value.$int)
	: value?.$float !== undefined ? Number(value.$float) : value;

function answer({ filter, keyType, keys, seed = 0n }) {
	if (filter === undefined) {
		return { hashes: keys.map((key) => String(hashKey(keyType, key, seed))) };
	}
	try {
		const f = new CuckooFilter(Buffer.from(filter, 'hex'));
		const { seed: stored, ...info } = f.info();
		return { info: { ...info, seed: stored === null ? null : String(stored) },
			counts: info.representation === 'partial' ? [] : keys.map((key) => f.count(key, keyType ?? undefined)) };
	} catch (error) {
		if (error instanceof FormatError) {
			return { refused: error.message };
		}
		throw error;
	}
}

for await (const line of createInterface({ input: process.stdin })) {
	console.log(JSON.stringify(answer(JSON.parse(line, revive))));
}
