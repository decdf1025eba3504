// Key types, canonical bytes and hashes of keys: see "Keys" in docs/format.md.

import { isIP } from 'node:net';
import { inspect } from 'node:util';

import { KeyTypeError, KeyValueError } from './errors.js';
import { xxh3 } from './xxh3.js';

/** Key types made of parts, and their numbers. */
const NESTED = { array: 24, composite: 25, range: 26, multirange: 27 };
const ARRAY = NESTED.array;
const COMPOSITE = NESTED.composite;

const KEY_TYPE_FACTOR = 0x9E3779B97F4A7C15n;
const SHARD_SEED = 0x243F6A8885A308D3n;
const DAY = 86400000000n; // in microseconds
const MAX_SCALE = 16383; // digits of a numeric after the point that PostgreSQL takes
const NULL = Buffer.from([255, 255, 255, 255]);

const refuse = (name, value) => {
	throw new KeyValueError(`${name}: ${inspect(value)}`);
};

// ---------------------------------------------------------------- key types

/** Whether keys of this key type have a signature. */
export const isNested = (number) => number >= ARRAY && number <= NESTED.multirange;

/** The number of a key type in the format. */
export function numberOf(keyType) {
	if (keyType === 'record') {
		return COMPOSITE;
	}
	const isPair = Array.isArray(keyType) && keyType.length === 2;
	const number = NUMBERS.get(isPair ? keyType[0] : ALIASES.get(keyType) ?? keyType) ?? 0;
	if (number === 0 || isNested(number) !== isPair ||
		(number === COMPOSITE && !Array.isArray(keyType[1]))) {
		throw new KeyTypeError(`no key type: ${inspect(keyType)}; there are ${
			Object.keys(SCALARS).join(', ')}, record, and pairs such as ['array', 'integer'] ` +
			`of array, composite, range or multirange; also names in SQL: ${
				[...ALIASES.keys()].join(', ')}`);
	}
	return number;
}

function parts(value, count, name) {
	if (!Array.isArray(value) || (count !== null && value.length !== count)) {
		refuse(name, value);
	}
	return value;
}

/** Bounds, which are pairs of length and lower bound, and elements of an array value. */
function arrayParts(value) {
	if (Array.isArray(value)) {
		return { bounds: value.length ? [[value.length, 1]] : [], elements: value };
	}
	if (value === null || typeof value !== 'object') {
		refuse('array', value);
	}
	return {
		bounds: parts(value.bounds, null, 'array').map((pair) => parts(pair, 2, 'array')),
		elements: parts(value.elements, null, 'array'),
	};
}

function recordParts(value) {
	const pairs = parts(value, null, 'record').map((pair) => parts(pair, 2, 'record'));
	return [pairs.map(([keyType]) => keyType), pairs.map(([, inside]) => inside)];
}

/** The bytes that the signature is made from; anonymous records are described by the value. */
function description(keyType, value) {
	const number = numberOf(keyType);
	if (keyType === 'record') {
		return value === null ? Buffer.from([COMPOSITE, 255, 255])
			: describeColumns(...recordParts(value));
	}
	if (!isNested(number)) {
		return Buffer.from([number]);
	}
	const inside = keyType[1];
	if (number === COMPOSITE) {
		return describeColumns(inside, value ?? inside.map(() => null));
	}
	const first = number === ARRAY && value !== null
		? arrayParts(value).elements.find((one) => one !== null) : null;
	return Buffer.concat([Buffer.from([number]), description(inside, first ?? null)]);
}

function describeColumns(columns, values) {
	parts(values, columns.length, 'composite');
	return Buffer.concat([Buffer.from([COMPOSITE, columns.length & 255, columns.length >> 8]),
		...columns.map((column, i) => description(column, values[i]))]);
}

/** 32 bits; 0 for scalar keys and jsonb, and never 0 for others. */
export function signature(keyType, value) {
	if (!isNested(numberOf(keyType))) {
		return 0;
	}
	return Number(xxh3(description(keyType, value)) & 0xFFFFFFFFn) || 1;
}

// ---------------------------------------------------------- canonical bytes

function u32(number) {
	const bytes = Buffer.alloc(4);
	bytes.writeUInt32LE(number);
	return bytes;
}

/** The bytes of an integer of 32 or 64 bits: a bigint or a safe number. */
function packInteger(value, name, bits = 64, signed = true) {
	if (typeof value !== 'bigint' && !Number.isSafeInteger(value)) {
		refuse(name, value);
	}
	const number = BigInt(value);
	if (number !== (signed ? BigInt.asIntN(bits, number) : BigInt.asUintN(bits, number))) {
		throw new KeyValueError(`${name}: ${number} is out of range`);
	}
	const bytes = Buffer.alloc(8);
	bytes.writeBigInt64LE(BigInt.asIntN(64, number));
	return bytes.subarray(0, bits / 8);
}

/** A string of digits as a bigint, others as they are. PostgreSQL reads 010 as octal in xid8. */
const parseDigits = (value) => typeof value === 'string' && /^(?:0|-?[1-9]\d*)$/.test(value)
	? BigInt(value) : value;

function booleanBytes(value) {
	return typeof value === 'boolean' ? Buffer.from([Number(value)]) : refuse('boolean', value);
}

function textBytes(value) {
	if (value instanceof Uint8Array) {
		return value;
	}
	if (typeof value !== 'string' || /[\0\p{Surrogate}]/u.test(value)) {
		refuse('text', value);
	}
	return Buffer.from(value);
}

function charBytes(value) {
	const bytes = textBytes(value);
	if (bytes.length > 1) {
		throw new KeyValueError('"char": more than one byte');
	}
	return bytes.length ? bytes : Buffer.from([0]);
}

/** The bytes of a string that matches; what is not a hexadecimal digit separates them. */
function hexBytes(pattern, value, name) {
	return typeof value === 'string' && pattern.test(value)
		? Buffer.from(value.replace(/[^0-9a-fA-F]/g, ''), 'hex') : refuse(name, value);
}

const byteaBytes = (value) => value instanceof Uint8Array ? value
	: hexBytes(/^\\x(?:[0-9a-fA-F]{2})*$/, value, 'bytea');

function bitBytes(value) {
	if (typeof value !== 'string' || !/^[01]*$/.test(value)) {
		refuse('bit', value);
	}
	const bytes = (value.match(/.{1,8}/g) ?? []).map((bits) => parseInt(bits.padEnd(8, '0'), 2));
	return Buffer.concat([u32(value.length), Buffer.from(bytes)]);
}

function doubleBytes(value) {
	if (typeof value !== 'number') {
		refuse('double precision', value);
	}
	const bytes = Buffer.alloc(8);
	if (Number.isNaN(value)) {
		bytes.writeBigUInt64LE(0x7FF8000000000000n);
	} else {
		bytes.writeDoubleLE(value + 0); // -0 + 0 is 0
	}
	return bytes;
}

function numericBytes(value) {
	const text = typeof value === 'bigint' || Number.isSafeInteger(value) ? String(value) : value;
	const found = typeof text === 'string' &&
		/^[ \t-\r]*([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:e([+-]?\d+))?[ \t-\r]*$/i.exec(text);
	if (!found) {
		const special = typeof text === 'string' &&
			/^[ \t-\r]*(nan|([+-]?)inf(?:inity)?)[ \t-\r]*$/i.exec(text);
		if (!special) {
			refuse('numeric', value);
		}
		const sign = /nan/i.test(special[1]) ? 0xC000 : special[2] === '-' ? 0xF000 : 0xD000;
		return Buffer.from([0, sign >> 8, 0, 0]);
	}
	const fraction = found[3] || found[4] || '';
	const scale = fraction.length - Number(found[5] || 0);
	if (scale > MAX_SCALE) {
		throw new KeyValueError(`numeric: more than ${MAX_SCALE} digits after the point`);
	}
	const all = ((found[2] || '') + fraction).replace(/^0+/, '');
	let end = all.length; // /0+$/ would try every zero
	while (all[end - 1] === '0') {
		end--;
	}
	const stripped = all.slice(0, end);
	if (stripped === '') {
		return Buffer.alloc(4);
	}
	const exponent = all.length - stripped.length - scale;
	const four = Math.floor(exponent / 4); // the last digit's weight
	let digits = stripped + '0'.repeat(exponent - 4 * four);
	digits = digits.padStart(4 * Math.ceil(digits.length / 4), '0');
	const weight = digits.length / 4 - 1 + four;
	if (!(weight < 2 ** 15)) { // a NaN is not
		throw new KeyValueError('numeric: out of range');
	}
	const bytes = Buffer.alloc(4 + digits.length / 2);
	bytes.writeUInt16LE(found[1] === '-' ? 0x4000 : 0, 0);
	bytes.writeInt16LE(weight, 2);
	for (let i = 0; i < digits.length; i += 4) {
		bytes.writeUInt16LE(Number(digits.slice(i, i + 4)), 4 + i / 2);
	}
	return bytes;
}

const BYTE = '[0-9a-fA-F]{2}';
const WORD = '[0-9a-fA-F]{4}';
const UUID = `${WORD}(?:-?${WORD}){7}`;

const hexOf = (pattern, name) => {
	const whole = new RegExp(`^(?:${pattern})$`);
	return (value) => hexBytes(whole, value, name);
};

const macOf = (length, name) => hexOf(`${BYTE}([:-]?)${BYTE}(?:\\1${BYTE}){${length - 2}}|` +
	`${WORD}(?:\\.${WORD}){${length / 2 - 1}}`, name);

/** Days from 2000-01-01 to the year, month and day in a match; NaN if there is no such day. */
function days([, year, month, day]) {
	const date = new Date(0);
	date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
	if (year === '0000' || date.getUTCMonth() !== Number(month) - 1) {
		return NaN;
	}
	return date.getTime() / 86400000 - 10957;
}

const DATE = '(\\d{4})-(\\d\\d)-(\\d\\d)';
const TIME = '([01]\\d|2[0-3]):([0-5]\\d)(?::([0-5]\\d)(?:\\.(\\d{1,6}))?)?';
const ZONE = '(?:Z|([+-])(0\\d|1[0-5])(?::([0-5]\\d)(?::([0-5]\\d))?)?)';

/** Microseconds since midnight of hours, minutes, seconds and a fraction. */
function clock([hours, minutes, seconds = '0', fraction = '']) {
	return BigInt((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000000n +
		BigInt(fraction.padEnd(6, '0'));
}

/** Seconds west of UTC of a zone's sign, hours, minutes and seconds; none are UTC itself. */
function west([sign, hours = '0', minutes = '0', seconds = '0']) {
	const offset = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
	return BigInt(sign === '-' ? offset : -offset);
}

function match(pattern, value, name) {
	return new RegExp(`^${pattern}$`).exec(value) ?? refuse(name, value);
}

function dateBytes(value) {
	if (typeof value !== 'string') {
		return packInteger(value, 'date', 32);
	}
	const ends = { infinity: 2 ** 31 - 1, '-infinity': -(2 ** 31) };
	const number = ends[value] ?? days(match(DATE, value, 'date'));
	return Number.isNaN(number) ? refuse('date', value) : packInteger(number, 'date', 32);
}

function timeBytes(value) {
	if (typeof value !== 'string') {
		return packInteger(value, 'time');
	}
	if (/^24:00(:00)?$/.test(value)) {
		return packInteger(DAY, 'time');
	}
	return packInteger(clock(match(TIME, value, 'time').slice(1)), 'time');
}

function timetzBytes(value) {
	let pair = value;
	if (typeof value === 'string') {
		const found = match(TIME + ZONE, value, 'timetz');
		pair = [clock(found.slice(1, 5)), west(found.slice(5))];
	}
	parts(pair, 2, 'timetz');
	return Buffer.concat([packInteger(pair[0], 'timetz'), packInteger(pair[1], 'timetz', 32)]);
}

const timestampOf = (name, zone) => (value) => {
	if (zone && value instanceof Date && !Number.isNaN(value.getTime())) {
		return packInteger(BigInt(value.getTime() - 946684800000) * 1000n, name);
	}
	if (typeof value !== 'string') {
		return packInteger(value, name);
	}
	if (value.endsWith('infinity')) {
		return packInteger({ infinity: 2n ** 63n - 1n, '-infinity': -(2n ** 63n) }[value] ??
			refuse(name, value), name);
	}
	const found = match(`${DATE}[ T]${TIME}${zone}`, value, name);
	const day = days(found);
	if (Number.isNaN(day)) {
		refuse(name, value);
	}
	return packInteger(BigInt(day) * DAY + clock(found.slice(4, 8)) +
		west(found.slice(8)) * 1000000n, name);
};

function intervalBytes(value) {
	let list = value;
	if (Object.prototype.toString.call(value) === '[object Object]') {
		const { years = 0, months = 0, days: wholeDays = 0, hours = 0, minutes = 0, seconds = 0,
			milliseconds = 0, ...others } = value;
		if (Object.keys(others).length > 0 || !Object.values(value).every(Number.isFinite)) {
			refuse('interval', value);
		}
		list = [12 * years + months, wholeDays,
			((hours * 60 + minutes) * 60 + seconds) * 1e6 + Math.round(milliseconds * 1000)];
	}
	parts(list, 3, 'interval').forEach((part, i) => packInteger(part, 'interval', i < 2 ? 32 : 64));
	const [months, dayCount, time] = list.map(BigInt);
	const rest = ((time % DAY) + DAY) % DAY;
	return Buffer.concat([packInteger(30n * months + dayCount + (time - rest) / DAY, 'interval'),
		packInteger(rest, 'interval')]);
}

function inetBytes(value) {
	const found = typeof value === 'string' &&
		/^([0-9a-fA-F:.]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(value);
	const version = found ? isIP(found[1]) : 0;
	const most = version === 4 ? 32 : 128;
	const bits = found && found[2] !== undefined ? Number(found[2]) : most;
	if (version === 0 || bits > most) {
		refuse('inet', value);
	}
	return Buffer.from([version, bits, ...(version === 4 ? ipv4(found[1]) : ipv6(found[1]))]);
}

const ipv4 = (text) => text.split('.').map(Number);

function ipv6(text) {
	const words = (half) => half === '' ? [] : half.split(':').flatMap((word) =>
		word.includes('.') ? ipv4(word) : [parseInt(word, 16) >> 8, parseInt(word, 16) & 255]);
	const [front, back] = text.split('::').map(words);
	return back ? [...front, ...Array(16 - front.length - back.length).fill(0), ...back] : front;
}

function pgLsnBytes(value) {
	const found = typeof value === 'string' && /^([0-9A-Fa-f]{1,8})\/([0-9A-Fa-f]{1,8})$/.exec(value);
	return packInteger(found ? BigInt(`0x${found[1]}`) << 32n | BigInt(`0x${found[2]}`) : value,
		'pg_lsn', 64, false);
}

const withLength = (bytes) => Buffer.concat([u32(bytes.length), bytes]);

/**
 * Numbers must stay exact: before the text is parsed, each becomes a string that begins with the
 * character 0, which no string of jsonb has.
 */
function jsonbBytes(value) {
	if (typeof value !== 'string') {
		refuse('jsonb', value);
	}
	try {
		JSON.parse(value); // refuses what is not JSON
		return jsonBytes(JSON.parse(value.replace(
			/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g,
			(token) => {
				if (token[0] !== '"') {
					return `"\\u0000${token}"`;
				}
				return JSON.parse(token).includes('\0') ? refuse('jsonb', value) : token;
			})));
	} catch (error) {
		if (error instanceof SyntaxError || error instanceof RangeError) {
			throw new KeyValueError(`jsonb: ${error.message}`);
		}
		throw error;
	}
}

function jsonBytes(value) {
	if (value === null || typeof value === 'boolean') {
		return Buffer.from([value === null ? 0 : value ? 2 : 1]);
	}
	if (typeof value === 'string') {
		return value[0] === '\0'
			? Buffer.concat([Buffer.from([3]), withLength(numericBytes(value.slice(1)))])
			: Buffer.concat([Buffer.from([4]), withLength(textBytes(value))]);
	}
	if (Array.isArray(value)) {
		return Buffer.concat([Buffer.from([5]), u32(value.length), ...value.map(jsonBytes)]);
	}
	const pairs = Object.entries(value).map(([key, inside]) => [textBytes(key), inside]);
	pairs.sort(([a], [b]) => a.length - b.length || Buffer.compare(a, b));
	return Buffer.concat([Buffer.from([6]), u32(pairs.length),
		...pairs.flatMap(([key, inside]) => [withLength(key), jsonBytes(inside)])]);
}

const integer = (value) => packInteger(parseDigits(value), 'integer');

/** The value of a numeric as numbers, the first of which that differs decides the order. */
function numericRank(bytes) {
	const sign = bytes.readUInt16LE(0);
	if (sign >= 0xC000) {
		return [sign === 0xC000 ? 3 : sign === 0xD000 ? 2 : -2];
	}
	const digits = Array.from({ length: bytes.length / 2 - 2 }, (_, i) => bytes.readUInt16LE(4 + 2 * i));
	if (digits.length === 0) {
		return [0];
	}
	const magnitude = [1, bytes.readInt16LE(2), ...digits];
	return sign === 0 ? magnitude : magnitude.map((number) => -number);
}

const integerRank = (bytes) => [bytes.length === 4 ? bytes.readInt32LE() : bytes.readBigInt64LE()];

/** A NaN is above all others. */
function doubleRank(bytes) {
	const number = bytes.readDoubleLE();
	return Number.isNaN(number) ? [1] : [0, number];
}

/**
 * Key types that are not made of parts: their numbers, canonical bytes and other names in SQL of
 * types whose values are canonical as they are (not real, nor char(n)). A rank gives, of the bytes
 * of a value, numbers in the order of the values: only for types whose order does not depend on a
 * collation.
 */
const SCALARS = {
	integer: { number: 1, toBytes: integer, rank: integerRank,
		aliases: ['smallint', 'int2', 'int', 'int4', 'bigint', 'int8', 'oid'] },
	boolean: { number: 2, toBytes: booleanBytes, aliases: ['bool'] },
	'"char"': { number: 3, toBytes: charBytes },
	text: { number: 4, toBytes: textBytes, aliases: ['varchar', 'character varying', 'name'] },
	bytea: { number: 5, toBytes: byteaBytes },
	bit: { number: 6, toBytes: bitBytes, aliases: ['varbit', 'bit varying'] },
	'double precision': { number: 7, toBytes: doubleBytes, rank: doubleRank, aliases: ['float8'] },
	numeric: { number: 8, toBytes: numericBytes, rank: numericRank, aliases: ['decimal'] },
	money: { number: 9, toBytes: (value) => packInteger(value, 'money'), rank: integerRank },
	uuid: { number: 10, toBytes: hexOf(`${UUID}|\\{${UUID}\\}`, 'uuid') },
	date: { number: 11, toBytes: dateBytes, rank: integerRank },
	time: { number: 12, toBytes: timeBytes, rank: integerRank, aliases: ['time without time zone'] },
	timetz: { number: 13, toBytes: timetzBytes, aliases: ['time with time zone'] },
	timestamp: { number: 14, toBytes: timestampOf('timestamp', ''), rank: integerRank,
		aliases: ['timestamp without time zone'] },
	timestamptz: { number: 15, toBytes: timestampOf('timestamptz', ZONE), rank: integerRank,
		aliases: ['timestamp with time zone'] },
	interval: { number: 16, toBytes: intervalBytes },
	inet: { number: 17, toBytes: inetBytes, aliases: ['cidr'] },
	macaddr: { number: 18, toBytes: macOf(6, 'macaddr') },
	macaddr8: { number: 19, toBytes: macOf(8, 'macaddr8') },
	pg_lsn: { number: 20, toBytes: pgLsnBytes },
	xid8: { number: 21, toBytes: (value) => packInteger(parseDigits(value), 'xid8', 64, false) },
	enum: { number: 22, toBytes: textBytes },
	jsonb: { number: 23, toBytes: jsonbBytes },
};
const NUMBERS = new Map([...Object.entries(SCALARS).map(([name, { number }]) => [name, number]),
	...Object.entries(NESTED)]);
/** The names of all key types by their numbers. */
export const NAMES = new Map([...NUMBERS].map(([name, number]) => [number, name]));
const ALIASES = new Map(Object.entries(SCALARS).flatMap(([name, { aliases = [] }]) =>
	aliases.map((alias) => [alias, name])));

/** A value inside another, or NULL. */
const nested = (keyType, value) => value === null ? NULL
	: withLength(canonicalBytes(keyType, value));

function arrayBytes(element, value) {
	const { bounds, elements } = arrayParts(value);
	const numbers = bounds.flat().map((number) => packInteger(number, 'array', 32));
	const room = bounds.reduce((product, [length]) => product * Number(length), 1);
	if (elements.length !== (bounds.length && room)) {
		throw new KeyValueError(`array: ${elements.length} elements do not fill the dimensions`);
	}
	if (bounds.some(([length]) => length < 1)) {
		throw new KeyValueError('array: a dimension has at least one element');
	}
	return Buffer.concat([Buffer.from([numberOf(element)]), u32(bounds.length), ...numbers,
		...Array.from(elements, (inside) => nested(element, inside))]);
}

function rowBytes(columns, values) {
	parts(values, columns.length, 'composite');
	return Buffer.concat([u32(columns.length), ...columns.flatMap((column, i) => [
		Buffer.from([numberOf(column)]), nested(column, values[i])])]);
}

/** Whether one bound can be before another, or the same if equal. */
function canFollow(bound, lower, upper, equal) {
	const ends = [canonicalBytes(bound, lower), canonicalBytes(bound, upper)];
	if (Buffer.compare(ends[0], ends[1]) === 0) {
		return equal;
	}
	const rank = SCALARS[NAMES.get(numberOf(bound))]?.rank;
	if (rank === undefined) {
		return true;
	}
	const [a, b] = ends.map(rank);
	for (let i = 0; i < Math.max(a.length, b.length); i++) {
		const [x, y] = [a[i] ?? 0, b[i] ?? 0];
		if (x !== y) {
			return x < y;
		}
	}
	return equal;
}

/** Lower and upper bound and brackets of a range; null of an empty one. */
function rangeParts(bound, value) {
	if (value === 'empty') {
		return null;
	}
	const [lower, upper, brackets] = parts(value, 3, 'range');
	if (!['[]', '[)', '(]', '()'].includes(brackets)) {
		refuse('range', brackets);
	}
	if (lower !== null && upper !== null && !canFollow(bound, lower, upper, brackets === '[]')) {
		throw new KeyValueError(`range: no range has the bounds ${inspect(value)}`);
	}
	return { lower, upper, brackets };
}

/** A range from its flags on. */
function rangeBytes(bound, value) {
	const range = rangeParts(bound, value);
	if (range === null) {
		return Buffer.from([1]);
	}
	const { lower, upper, brackets } = range;
	const flags = (lower === null ? 2 : brackets[0] === '[' ? 4 : 0) +
		(upper === null ? 8 : brackets[1] === ']' ? 16 : 0);
	return Buffer.concat([Buffer.from([flags]), ...[lower, upper]
		.filter((end) => end !== null).map((end) => nested(bound, end))]);
}

function multirangeBytes(bound, value) {
	const ranges = parts(value, null, 'multirange').map((one) => rangeParts(bound, one));
	// Between two of them there is a gap, if only of one value.
	const isGap = (one, after) => one.upper !== null && after.lower !== null &&
		canFollow(bound, one.upper, after.lower, one.brackets[1] + after.brackets[0] === ')(');
	if (ranges.includes(null) || !ranges.every((one, i) => i === 0 || isGap(ranges[i - 1], one))) {
		throw new KeyValueError(`multirange: ${inspect(value)} is not in canonical form`);
	}
	return Buffer.concat([Buffer.from([numberOf(bound)]), u32(ranges.length),
		...value.map((one) => rangeBytes(bound, one))]);
}

/** The canonical bytes of a key; KeyValueError if the value is not one of the key type. */
function canonicalBytes(keyType, value) {
	const number = numberOf(keyType);
	if (value === null || value === undefined) {
		throw new KeyValueError('NULL is no key');
	}
	if (keyType === 'record') {
		return rowBytes(...recordParts(value));
	}
	if (!isNested(number)) {
		return SCALARS[NAMES.get(number)].toBytes(value);
	}
	const [kind, inside] = keyType;
	switch (kind) {
		case 'array':
			return arrayBytes(inside, value);
		case 'composite':
			return rowBytes(inside, value);
		case 'range':
			return Buffer.concat([Buffer.from([numberOf(inside)]), rangeBytes(inside, value)]);
		default:
			return multirangeBytes(inside, value);
	}
}

/** The hash of a key, a bigint of 64 bits; the seed may be signed or unsigned. */
export function hashKey(keyType, value, seed = 0n) {
	return xxh3(canonicalBytes(keyType, value),
		BigInt.asUintN(64, BigInt(seed) + BigInt(numberOf(keyType)) * KEY_TYPE_FACTOR));
}

/** What cuckoo_shard(value, shards) gives: 0 to shards - 1; shards is 1 to 2^31 - 1. */
export function shard(keyType, value, shards) {
	if (!Number.isInteger(shards) || shards < 1 || shards >= 2 ** 31) {
		throw new RangeError(`${shards} shards`);
	}
	return Number((hashKey(keyType, value, SHARD_SEED) >> 32n) * BigInt(shards) >> 32n);
}
