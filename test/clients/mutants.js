// Prints the faults that examples of hashes do not show. Each number in the package's xxh3.js is made
// larger and smaller by one, and each byte of the secret is changed, one at a time. Standard input
// has the examples as JSON: [hash, seed, bytes], in hexadecimal.

import { readFileSync } from 'node:fs';

const source = readFileSync(process.argv[2], 'utf8');
const code = source.replace(/\/\/.*|\/\*[^]*?\*\//g, (comment) => ' '.repeat(comment.length));
const examples = JSON.parse(readFileSync(0, 'utf8')).map(([hash, seed, bytes]) =>
	[BigInt(`0x${hash}`), BigInt(`0x${seed}`), Buffer.from(bytes, 'hex')]);

// No faults: what is shifted out, an end that steps of two pass, and a seed that keys always have
const HARMLESS = ['0n -> 1n: let result = 0n;', '8 -> 7: for (let i = 0; i < 8; i += 2) {',
	'0n -> 1n: export function xxh3(bytes, seed = 0n) {'];

/** Whether all examples have their hashes. */
async function passes(text) {
	const { xxh3 } = await import(`data:text/javascript;base64,${Buffer.from(text).toString('base64')}`);
	try {
		return examples.every(([hash, seed, bytes]) => hash === xxh3(bytes, seed));
	} catch {
		return false;
	}
}

const mutants = [];
function replace(at, token, other) {
	const line = source.slice(source.lastIndexOf('\n', at) + 1, source.indexOf('\n', at)).trim();
	mutants.push([`${token} -> ${other}: ${line}`, source.slice(0, at) + other + source.slice(at + token.length)]);
}
for (const { 0: token, 1: digits, index } of code.matchAll(/'[0-9a-f]{64}'|(?<!\w)(0x[0-9A-F]+|\d+)n?(?!\w)/g)) {
	if (digits === undefined) {
		for (let at = 1; at < 64; at += 2) {
			const byte = token.slice(at, at + 2);
			replace(index + at, byte, (parseInt(byte, 16) ^ 1).toString(16).padStart(2, '0'));
		}
	} else {
		for (const other of [BigInt(digits) + 1n, BigInt(digits) - 1n].filter((number) => number >= 0n)) {
			replace(index, token, other + token.slice(digits.length));
		}
	}
}
if (!await passes(source) || mutants.length < 400) {
	console.log(`the examples are wrong, or there are only ${mutants.length} faults`);
}
for (const [name, text] of mutants) {
	if (!HARMLESS.includes(name) && await passes(text)) {
		console.log(name);
	}
}
