// Reads and makes the filters of test/golden, which are PostgreSQL's. No server is needed.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { CuckooFilter, CuckooFilterError, FormatError, KeyTypeError, KeyValueError, hashKey, shard }
	from 'pgcuckoo';
import { Shape, SparseTable } from '../src/tables.js';

const lines = (name) => readFileSync(
	new URL(`../../../test/golden/${name}`, import.meta.url), 'utf8')
	.trimEnd().split('\n').slice(1).map((line) => line.split('\t'));

const FILTERS = new Map(lines('filters.tsv').map(([name, keys, made, , text]) =>
	[name, { keys, made, text }]));
const HASHES = new Map(lines('filters.tsv').map(([name, , , , , hashes]) =>
	[name, hashes.split(' ').map((answer) => answer.split('*'))
		.map(([hash, copies]) => [BigInt(`0x${hash}`), Number(copies)])]));

const golden = (name) => CuckooFilter.fromText(FILTERS.get(name).text);
const numbers = (first, last) => Array.from({ length: last - first + 1 }, (_, i) => first + i);
const K300 = 'k'.repeat(300);

// All keys of each filter, in several forms; then keys that it does not contain.
const KEYS = {
	'type-smallint': [[0, -1, '-1', 32767n], [1, -32768]],
	'type-bigint': [[0, -(2n ** 63n), '9223372036854775807', 2n ** 63n - 1n], [1]],
	'type-oid': [[1, 2 ** 32 - 1], [-1]],
	'type-boolean': [[true, false], []],
	'type-char': [['a', '', Buffer.from([0])], ['b']],
	'type-text': [['', 'cuckoo', 'Kuckuck äöü', Buffer.from('Kuckuck äöü'), 'カッコウ', K300],
		['k', 'cuckoo ']],
	'type-varchar': [['cuckoo', 'blank '], ['blank']],
	'type-bpchar': [['cuckoo', ''], ['cuckoo      ']],
	'type-name': [['cuckoo'], ['Cuckoo']],
	'type-bytea': [['\\x', Buffer.from([0, 255]), Uint8Array.of(0, 255), '\\x00ff'],
		[Buffer.from([255]), '\\x00']],
	'type-bit': [['101', '000'], ['1010', '']],
	'type-varbit': [['', '1', '0000000001'], ['10']],
	'type-real': [[Math.fround(0.1), 0, -0, NaN, -Infinity], [0.1, Infinity]],
	'type-double': [[0.1, 1e308, NaN], [Math.fround(0.1)]],
	'type-numeric': [[0, '-0.00', '1.5', '1.500', '-12345678901234567890.00001', '1e100',
		'0.1E101', 10n ** 100n, 'NaN', 'Infinity', 'inf', '-Infinity'],
	[1, '1.05', '12345678901234567890.00001']],
	'type-money': [[1234], [12]],
	'type-uuid': [['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
		'{A0EEBC999C0B4EF8BB6D6BB9BD380A11}'], ['00000000-0000-0000-0000-000000000000']],
	'type-date': [['2000-01-01', 0, '1969-07-20', -11122, 'infinity'], ['-infinity', '2000-01-02']],
	'type-time': [['00:00', '00:00:00.000', '24:00', '24:00:00', 86400000000], ['12:00', '23:59']],
	'type-timetz': [['13:14:15+02', '13:14:15.0+02:00', [47655000000, -7200], '11:14:15Z'],
		['13:14:15-02', '13:14:15+00']],
	'type-timestamp': [['2013-08-01 12:00', '2013-08-01T12:00:00.000000', 428673600000000n,
		'-infinity'], ['2013-08-01 00:00', 'infinity']],
	'type-timestamptz': [['2013-08-01 12:00:00+00', '2013-08-01T14:00:00+02:00',
		new Date('2013-08-01T12:00:00Z'), '2013-08-01 06:30:00-05:30', 'infinity'],
	[new Date(0), '-infinity']],
	'type-interval': [[{ months: 1 }, [1, 0, 0], { days: 30 }, [0, 0, 30n * 86400000000n],
		{ days: -3, hours: 4, minutes: 5, seconds: 6, milliseconds: 789 }], [{ days: 1 }, {}]],
	'type-inet': [['192.168.1.5/24', '2001:db8::1', '2001:DB8:0:0:0:0:0.0.0.1/128'],
		['192.168.1.5', '2001:db8::1/64']],
	'type-cidr': [['10.0.0.0/8'], ['10.0.0.0']],
	'type-macaddr': [['08:00:2b:01:02:03', '0800.2b01.0203'], ['08:00:2b:01:02:04']],
	'type-macaddr8': [['08:00:2b:01:02:03:04:05', '08002b0102030405'], ['08:00:2b:01:02:03:04:06']],
	'type-pg-lsn': [[0, '0/0', '16/B374D848', 0x16B374D848], [1]],
	'type-xid8': [[0, '18446744073709551615', 2n ** 64n - 1n], [1]],
	'type-enum': [['sad', 'fröhlich'], ['happy']],
	'type-jsonb': [['null', '{"b":1,"aa":{"x":[]},"a":[false,-2500]}', '"\\u00e4"'], ['"null"', '{}']],
};

// The same with key types made of parts, which have to be named
const NESTED_KEYS = {
	'type-range': [['range', 'integer'], [[1, 5, '[)'], 'empty', [null, null, '()']], [[1, 6, '[)']]],
	'type-multirange': [['multirange', 'integer'], [[[1, 5, '[)'], [7, 9, '[)']], []],
		[[[1, 5, '[)']]]],
	'type-composite': [['composite', ['integer', 'text', 'integer']], [[1, 'x', null], [2, 'y', 3]],
		[[1, 'x', 3]]],
	'type-array-integer': [['array', 'integer'], [[1, null, 3], [],
		{ bounds: [[2, 1], [2, 1]], elements: [1, 2, 3, 4] },
		{ bounds: [[2, -1]], elements: [7, 8] }], [[7, 8], [1, 3]]],
	'type-array-text': [['array', 'text'], [['x', null]], [['x']]],
	'type-array-range': [['array', ['range', 'numeric']], [[['1', '5.0', '[)'], 'empty']],
		[['empty']]],
	'type-array-record': [['array', 'record'],
		[[[['integer', 1], ['text', 'x']], [['integer', 2], ['text', null]]]],
		[[[['integer', 1], ['text', 'y']]]]],
	'type-composite-nested': [['composite', ['numeric', ['array', 'boolean'], 'record']],
		[['1.5', [true], [['text', 'x']]]], [['1.5', [false], [['text', 'x']]]]],
};

// Values that are none of their key type
const WRONG = [
	['integer', [2n ** 63n, -(2n ** 63n) - 1n, 1.5, 2 ** 53, '1.0', '010', 'x', true]],
	['boolean', [1, 'true']], ['"char"', ['ab', 'ä']], ['text', [1, 'a\0b', '\ud800']],
	['bytea', ['00ff', '\\x0', '\\x00 ff', 1]], ['bit', ['12', 5]], ['double precision', ['0.1', 1n]],
	['numeric', [0.1, true, '1,5', '0x1', '', '.', '1e999999', '1e-16384', '\u00a01',
		'1e99999999999999999999999']],
	['money', ['$1', '1']],
	['uuid', ['a0eebc99', 'x'.repeat(32), 'a0eebc999c0b4ef8-bb6d6bb9bd380a1-1', `{${'0'.repeat(32)}`, 1]],
	['date', ['2000-02-30', '2000-13-01', '0000-01-01', '20000101', 2 ** 31, new Date(), '']],
	['time', ['25:00', '13:00+02', '12:60', '12:00.5', '12:00:00.1234567']],
	['timetz', ['13:00', '13:00+16', '13:00+0530:15', [1, 2, 3], 5]],
	['timestamp', ['2000-01-01 00:00+00', '2000-01-01 24:00', '2000-02-30 00:00', 'x infinity',
		new Date()]],
	['timestamptz', ['2000-01-01 00:00', new Date(NaN)]],
	['interval', [[1, 2], [2 ** 31, 0, 0], { days: 1.5 }, { month: 1 }, { months: '1' }, new Date(),
		'P1M', 1]],
	['inet', ['10.0.0', '10.0.0.0/33', '::/129', '::/08', 5, 'fe80::1%1', '10.0.0.0/255.0.0.0', '']],
	['macaddr', ['08:00', '08:0:2b:001:02:03', '08:00-2b:01:02:03', 1]],
	['macaddr8', ['08:00:2b:01:02:03']], ['pg_lsn', ['16/', '16', -1, 2n ** 64n]],
	['xid8', [-1, '010', 'x']], ['enum', [1]],
	['jsonb', ['{', 'NaN', '01', '[1 2]', '{1: 2}', '"\\u0000"', '"\\u00005"', '"\\ud800"', { a: 1 }]],
	[['array', 'integer'], [5, ['x'], { bounds: [[2, 1]], elements: [1] }, { elements: [] },
		{ bounds: [[0, 1]], elements: [] }, { bounds: [[-1, 1], [-1, 1]], elements: [1] },
		new Array(2)]],
	[['composite', ['integer']], [[1, 2], 'x']], [['range', 'integer'], [[1, 2, '{}'], [1, 2]]],
	[['multirange', 'integer'], ['empty']], ['record', [[1], [['integer', 'x']]]],
];

test('each golden filter has the copies of hashes that the server counted', () => {
	assert.ok(FILTERS.size > 120);
	for (const name of FILTERS.keys()) {
		const f = golden(name);
		assert.ok(HASHES.get(name).length >= 10);
		for (const [hash, copies] of HASHES.get(name)) {
			if (name.startsWith('partial')) {
				assert.throws(() => f.countHash(hash), FormatError);
			} else {
				assert.equal(f.countHash(hash), copies, name);
			}
		}
	}
});

test('filters of the integers from 1 on contain them, and few others', () => {
	let found = 0;
	for (const [name, { keys }] of FILTERS) {
		const last = Number(/^SELECT k FROM generate_series\(1, (\d+)\) AS k$/.exec(keys)?.[1]);
		if (!last || name.startsWith('partial')) {
			continue;
		}
		found++;
		const f = golden(name);
		assert.ok(f.containsAll(numbers(1, last)), name);
		assert.equal(f.info().removable ? f.info().items : last, last);
		if (last <= 1000) {
			assert.ok(f.containsEach(numbers(1001, 2000)).filter(Boolean).length < 200, name);
		}
	}
	assert.ok(found > 50);
});

function check(name, keyType, present, absent) {
	const f = golden(name);
	const known = new Set(HASHES.get(name).filter(([, copies]) => copies).map(([hash]) => hash));
	const hashes = new Set(present.map((key) => hashKey(keyType ?? f.keyType, key, f.seed)));
	for (const key of present) {
		assert.ok(known.has(hashKey(keyType ?? f.keyType, key, f.seed)), `${name}: ${key}`);
	}
	assert.equal(hashes.size, f.info().items, name);
	assert.ok(f.containsAll(present, keyType), name);
	assert.ok(!f.containsAny(absent, keyType), name);
	assert.deepEqual(f.containsEach([present[0], ...absent], keyType),
		[true, ...absent.map(() => false)]);
	return f;
}

test('keys of every type are found', () => {
	for (const [name, [present, absent]] of Object.entries(KEYS)) {
		const f = check(name, undefined, present, absent);
		assert.equal(f.count(present[0], f.keyType), 1);
		assert.throws(() => f.count(present[0], 'record'), KeyTypeError);
		for (const value of [null, undefined, Symbol('x'), () => 1]) {
			assert.throws(() => f.count(value), KeyValueError, name);
		}
	}
});

test('keys made of parts are found', () => {
	for (const [name, [keyType, present, absent]] of Object.entries(NESTED_KEYS)) {
		const f = check(name, keyType, present, absent);
		const inside = keyType[0] === 'composite' ? present[0].map(() => 'xid8') : 'xid8';
		assert.throws(() => f.count(present[0]), KeyTypeError);
		assert.throws(() => f.count('x', 'text'), KeyTypeError);
		assert.throws(() => f.count(present[0], [keyType[0], inside]), KeyTypeError);
	}
});

test('partial states are read, but hold no keys', () => {
	for (const name of ['partial', 'partial-array', 'partial-empty']) {
		const f = golden(name);
		assert.equal(f.info().representation, 'partial');
		assert.throws(() => f.count(1), FormatError);
		assert.throws(() => f.contains(1, 'integer'), FormatError);
	}
	assert.equal(golden('partial').info().items, 20);
});

test('filters without keys contain nothing of any type', () => {
	for (const name of ['unset', 'empty', 'empty-capacity']) {
		const f = golden(name);
		assert.equal(f.keyType, null);
		assert.equal(f.count(1, 'integer'), 0);
		assert.deepEqual(f.containsEach(['a', 1]), [false, false]);
		assert.throws(() => f.contains(null), KeyValueError);
		assert.throws(() => f.count(undefined, 'integer'), KeyValueError);
		assert.ok(!f.containsAny([]));
		assert.ok(f.containsAll([]));
	}
});

test('info says what a filter is', () => {
	assert.deepEqual(golden('unset').info(), {
		formatVersion: 1, representation: null, keyType: null, items: 0, capacity: null,
		targetFpr: null, expectedFpr: 0, subfilters: 0, seed: null, removable: true });
	assert.deepEqual(golden('empty-capacity').info(), {
		formatVersion: 1, representation: 'sparse', keyType: null, items: 0, capacity: 500,
		targetFpr: 0.01, expectedFpr: 0, subfilters: 1, seed: -77n, removable: true });
	const info = golden('one').info();
	assert.equal(info.expectedFpr.toExponential(4), '4.0697e-5');
	assert.deepEqual({ ...info, expectedFpr: 0 }, {
		formatVersion: 1, representation: 'sparse', keyType: 'integer', items: 1, capacity: 1,
		targetFpr: 0.001, expectedFpr: 0, subfilters: 1, seed: 0n, removable: true });
	const mixed = golden('written-mixed');
	assert.equal(mixed.info().representation, 'mixed');
	assert.deepEqual(mixed.subfilters.map((table) => [table.representation, table.shape.bits]),
		[['dense', 9], ['dense', 14], ['sparse', 20]]);
	for (const [name, rate] of [['union', '6.7415e-3'], ['union-apart', '6.4910e-3']]) {
		const { removable, expectedFpr } = golden(name).info();
		assert.deepEqual([removable, expectedFpr.toExponential(4)], [false, rate]);
	}
});

test('the bytes made of integers are those of a golden filter, or the answers if it is dense', () => {
	const found = { sparse: 0, dense: 0 };
	for (const [name, { keys, made, text }] of FILTERS) {
		const last = Number(/^SELECT k FROM generate_series\(1, (\d+)\) AS k$/.exec(keys)?.[1]);
		const parameters = /^cuckoo_agg\(k(?:, (\w+), (\S+))?\)$/.exec(made);
		if (!last || !parameters) {
			continue;
		}
		const f = CuckooFilter.build(numbers(1, last), 'integer', Number(parameters[1]) || null,
			parameters[2] && Number(parameters[2]));
		const { representation, ...info } = golden(name).info();
		if (representation === 'sparse') {
			assert.equal(f.toText(), text, name);
		}
		assert.deepEqual(f.info(), { ...info, representation: 'sparse' });
		for (const [hash, copies] of HASHES.get(name)) {
			assert.equal(f.countHash(hash), copies, name);
		}
		found[representation]++;
	}
	assert.ok(found.sparse > 20 && found.dense > 20);
});

test('the bytes made of keys of every type are those of a golden filter', () => {
	for (const [name, keyType, present] of [
		...Object.entries(KEYS).map(([name, [present]]) => [name, golden(name).keyType, present]),
		...Object.entries(NESTED_KEYS).map(([name, [keyType, present]]) => [name, keyType, present])]) {
		const f = CuckooFilter.build([null, ...present, ...present], keyType, null,
			golden(name).info().targetFpr);
		assert.equal(f.toText(), FILTERS.get(name).text, name);
		assert.deepEqual(new CuckooFilter(f.data).info(), f.info());
	}
});

test('a filter can be made without keys', () => {
	const { text } = FILTERS.get('empty-capacity');
	assert.equal(CuckooFilter.build([], 'text', 500, 0.01, -77).toText(), text);
	assert.equal(CuckooFilter.build(new Set([null]), 'uuid', 499.01, 0.01, 2n ** 64n - 77n).toText(),
		text);
	assert.equal(CuckooFilter.build([], 'record').toText(), FILTERS.get('empty').text);
});

test('beyond 1,024 keys, or the capacity specified, the keys are counted', () => {
	for (const [count, capacity, known] of [[1024, null, null], [1025, undefined, 1025], [9, 10, 10],
		[10, 9.1, 10], [11, 10, 11]]) {
		assert.equal(CuckooFilter.build(numbers(1, count), 'integer', capacity).info().capacity, known);
	}
});

test('a table stores eight copies of a class, and leaves out more', () => {
	const shape = new Shape(1, 200, 5);
	const codes = (list) => BigUint64Array.from(list.flatMap(([code, copies]) =>
		Array(copies).fill(BigInt(code))));
	const count = (table, code) => table.count({ q: code >> 5, fingerprint: code & 31 });
	let table = SparseTable.ofCodes(shape, codes([[9, 8], [11, 20], [40, 7]]));
	table.validate();
	assert.deepEqual([9, 10, 11, 40].map((code) => count(table, code)), [8, 0, 8, 7]);
	// The index has 255 where a section has more codes.
	table = SparseTable.ofCodes(shape,
		codes(numbers(1, 3199).filter((code) => code % 32).map((code) => [code, 8])));
	assert.ok(table.bytes.subarray(0, 12).includes(255));
	table.validate();
	assert.deepEqual([31, 32, 33, 3199].map((code) => count(table, code)), [8, 0, 8, 8]);
});

test('wrong parameters and keys are refused', () => {
	const build = (...parameters) => () => CuckooFilter.build([1], 'integer', ...parameters);
	for (const [error, message, call] of [
		...[0, 0.999, -1, NaN, -Infinity].map((capacity) =>
			[RangeError, /capacity must be at least 1 key/, build(capacity)]),
		...[1517813760.5, 2 ** 64, Infinity].map((capacity) =>
			[RangeError, /capacity is too large/, build(capacity)]),
		...[0, 0.11, 1.9e-8, NaN, -1].map((fpr) =>
			[RangeError, /false-positive rate must be between/, build(null, fpr)]),
		[RangeError, /the capacity comes before the rate/, build(1, 1000)],
		[RangeError, /cuckoofilter would be too large/, build(1e9, 1e-5)],
		...[2n ** 64n, -(2n ** 63n) - 1n].map((seed) =>
			[RangeError, /seed has more than 64 bits/, build(null, 0.1, seed)]),
		...[['1'], [true], [5n], [null, null], [null, '0.1'], [null, 0.1, 1.5], [null, 0.1, null],
			[null, 0.1, 2 ** 53], [null, 0.1, '7']].map((parameters) =>
			[TypeError, /is not a/, build(...parameters)]),
		[KeyTypeError, /no key type: 'real'; there are .*jsonb.*, record, .*: .*cidr/,
			() => CuckooFilter.build([], 'real')],
		[KeyTypeError, /key types differ/,
			() => CuckooFilter.build([[['integer', 1]], [['text', 'x']]], 'record')],
		[KeyValueError, /integer/, () => CuckooFilter.build(['x'], 'integer')],
		[KeyValueError, /NULL/, () => CuckooFilter.build([undefined], 'integer')],
		[TypeError, /iterable/, () => CuckooFilter.build(5, 'integer')],
		[TypeError, /iterable/, () => CuckooFilter.build(undefined, 'integer')]]) {
		assert.throws(call, (thrown) => thrown instanceof error && message.test(thrown.message), message);
	}
	assert.equal(build(1e9, 0.1, -(2n ** 63n))().info().capacity, 1e9);
});

test('data is a copy', () => {
	const f = CuckooFilter.build([1], 'integer');
	f.data.fill(0);
	assert.equal(f.data[0], 1);
	assert.ok(f.contains(1));
});

test('a value that breaks any rule of validation is refused', () => {
	const rules = lines('malformed.tsv');
	assert.ok(rules.length > 60);
	for (const [name, data] of rules) {
		assert.throws(() => new CuckooFilter(Buffer.from(data ?? '', 'hex')), FormatError, name);
	}
});

test('filters that are cut off or continued are refused', () => {
	for (const name of ['unset', 'one', 'type-text', 'dense-10', 'written-mixed', 'partial']) {
		const data = Buffer.from(FILTERS.get(name).text, 'base64');
		for (let length = 0; length < data.length; length++) {
			// A partial state without its last hashes would be another one.
			if (name !== 'partial' || length % 8 !== 4) {
				assert.throws(() => new CuckooFilter(data.subarray(0, length)), FormatError, name);
			}
		}
		for (const more of [1, 12]) {
			assert.throws(() => new CuckooFilter(Buffer.concat([data, Buffer.alloc(more)])),
				FormatError, name);
		}
	}
});

test('without validation, lengths are checked, and lookups in wrong tables end', () => {
	for (const [name, hex] of lines('malformed.tsv')) {
		try {
			const f = new CuckooFilter(Buffer.from(hex ?? '', 'hex'), { validate: false });
			for (let hash = 0n; hash < 2n ** 64n; hash += 2n ** 58n) {
				assert.ok(f.countHash(hash) <= 8, name);
			}
		} catch (error) {
			assert.ok(error instanceof FormatError, `${name}: ${error}`);
		}
	}
	const { text } = FILTERS.get('dense-10');
	const data = Buffer.from(text, 'base64');
	assert.throws(() => new CuckooFilter(data.subarray(1), { validate: false }), FormatError);
	assert.throws(() => new CuckooFilter(data.subarray(0, -1), { validate: false }), FormatError);
	assert.ok(CuckooFilter.fromText(text, { validate: false }).containsAll(numbers(1, 60)));
});

test('text that is not base64 is refused, and so is what is no bytes', () => {
	const { text } = FILTERS.get('unset');
	assert.ok(text.endsWith('='));
	// A line as COPY writes it
	for (const line of [`${text}\n`, `${text}\r\n`]) {
		assert.equal(CuckooFilter.fromText(line).toText(), text);
	}
	for (const wrong of [` ${text}`, `${text}\n\n`, `${text}\r`, `${text}\n `, `\n${text}`,
		`${text.slice(0, 8)}\n${text.slice(8)}`, text.replace(/=+$/, ''), `${text.slice(0, 8)}-_${text.slice(10)}`, text.slice(0, -4), '', 'ä']) {
		assert.throws(() => CuckooFilter.fromText(wrong), FormatError);
	}
	for (const wrong of [text, null, [1, 0], 44]) {
		assert.throws(() => new CuckooFilter(wrong), (error) => error instanceof TypeError &&
			/fromText/.test(error.message) === (wrong === text));
	}
});

test('long text is read', () => {
	const hashes = BigUint64Array.from({ length: 1e6 }, (_, i) => BigInt(i));
	const text = Buffer.concat([golden('partial').data.subarray(0, 36),
		new Uint8Array(hashes.buffer), Buffer.alloc(8)]).toString('base64');
	assert.equal(CuckooFilter.fromText(text).info().items, 1e6);
	assert.throws(() => CuckooFilter.fromText(`${text}!!!!`), FormatError);
	const jsonb = `"${'a'.repeat(1e7)}"`;
	assert.equal(hashKey('jsonb', jsonb), hashKey('jsonb', ` ${jsonb}`));
	const start = process.cpuUsage();
	const numeric = `1${'0'.repeat(130000)}1`;
	assert.equal(hashKey('numeric', numeric), hashKey('numeric', BigInt(numeric)));
	assert.throws(() => hashKey('numeric', `${numeric}x`), KeyValueError);
	assert.ok(process.cpuUsage(start).user < 3e6); // in quadratic time, half a minute
});

test('a Date of any year is its instant', () => {
	for (const text of ['0001-01-01T00:00:00.001Z', '1700-02-28T12:00:00Z', '9999-12-31T23:59:59.999Z']) {
		assert.equal(hashKey('timestamptz', new Date(text)), hashKey('timestamptz', text));
	}
});

test('values that are none of their key type are refused', () => {
	for (const [keyType, values] of WRONG) {
		for (const value of [...values, null, undefined]) {
			assert.throws(() => hashKey(keyType, value), KeyValueError,
				`${keyType}: ${JSON.stringify(String(value))}`);
		}
	}
});

test('what is no key type is refused', () => {
	for (const keyType of ['json', 'real', 'char', 'character', 'bpchar', 'Integer', 'array', ['array'], ['text', 'text'], 5, 5n, ['array', 'json'], '',
		['composite', null], ['composite', 'text']]) {
		assert.throws(() => hashKey(keyType, [1]), KeyTypeError);
	}
});

test('other names in SQL are those of the same key type', () => {
	for (const [names, value] of [
		[['integer', 'smallint', 'int2', 'int', 'int4', 'bigint', 'int8', 'oid'], 5],
		[['text', 'varchar', 'character varying', 'name'], 'a'], [['boolean', 'bool'], true],
		[['bit', 'varbit', 'bit varying'], '101'], [['numeric', 'decimal'], '1.5'],
		[['double precision', 'float8'], 1.5], [['inet', 'cidr'], '10.0.0.0/8'],
		[['time', 'time without time zone'], '12:00'], [['timetz', 'time with time zone'], '12:00Z'],
		[['timestamp', 'timestamp without time zone'], '2026-01-01 00:00'],
		[['timestamptz', 'timestamp with time zone'], '2026-01-01 00:00Z']]) {
		for (const name of names) {
			const f = CuckooFilter.build([value], name);
			assert.equal(f.keyType, names[0]);
			assert.equal(f.count(value, names.at(-1)), 1);
			assert.equal(CuckooFilter.build([[value]], ['array', name]).count([value], ['array', names[0]]), 1);
		}
	}
});

test('a single key is no list of keys', () => {
	const f = CuckooFilter.build(['a', 'x'], 'text');
	for (const key of ['ax', '', Buffer.from('ax'), Uint8Array.of(97)]) {
		for (const call of [(keys) => f.containsEach(keys), (keys) => f.containsAny(keys),
			(keys) => f.containsAll(keys), (keys) => CuckooFilter.build(keys, 'text')]) {
			assert.throws(() => call(key), (error) => error instanceof TypeError &&
				/is one key, not a list of keys/.test(error.message));
		}
	}
	assert.equal(f.containsAny(new Set(['b', 'x'])), true);
});

test('ranges that cannot be are refused', () => {
	for (const [bound, ...ascending] of [
		['integer', -5, '1', 2n], ['bigint', -5, 10000000000n], ['money', 1, 2],
		['numeric', '-Infinity', -20000, '-12345', '-1.5', -1, '-0.001', 0, '0.001', '0.5', 1, '1.00001',
			'99999', 100000n, 'Infinity', 'NaN'],
		['double precision', -Infinity, -1, 0, 1.5, Infinity, NaN], ['date', '-infinity', '1999-12-31', 0],
		['time', '00:00', '13:00', '24:00'], ['timestamp', '1999-01-01 00:00', '2000-01-01 00:00:01'],
		['timestamptz', '2000-01-01 12:00+02', new Date('2000-01-01T11:00:00Z')]]) {
		ascending.forEach((lower, i) => {
			hashKey(['range', bound], [lower, lower, '[]']);
			for (const brackets of ['[)', '(]', '()']) {
				assert.throws(() => hashKey(['range', bound], [lower, lower, brackets]), KeyValueError);
			}
			for (const upper of ascending.slice(i + 1)) {
				hashKey(['range', bound], [lower, upper, '()']);
				assert.throws(() => hashKey(['range', bound], [upper, lower, '[]']), KeyValueError,
					`${bound} ${upper} ${lower}`);
			}
		});
	}
	// A collation may have this order, but equal bounds are equal.
	hashKey(['range', 'text'], ['b', 'a', '[)']);
	assert.throws(() => hashKey(['range', 'text'], ['a', Buffer.from('a'), '[)']), KeyValueError);
	assert.throws(() => hashKey(['array', ['range', 'integer']], [[2, 1, '[)']]), KeyValueError);
});

test('multiranges that cannot be are refused', () => {
	const hash = (bound, ...ranges) => () => hashKey(['multirange', bound], ranges);
	for (const [bound, ...ranges] of [['integer'], ['integer', [1, 2, '[)'], [3, 4, '[)']],
		['numeric', [null, 1, '()'], [1, 2, '()'], [2, 3, '(]'], [4, null, '[)']]]) {
		hash(bound, ...ranges)();
	}
	for (const ranges of [[[3, 4, '[)'], [1, 2, '[)']], [[1, 3, '[)'], [2, 4, '[)']],
		[[1, 2, '[)'], [2, 3, '[)']], [[1, 2, '(]'], [2, 3, '()']], [[1, 2, '[]'], [2, 3, '[]']],
		[[1, null, '[)'], [2, 3, '[)']], [[1, 2, '[)'], [null, 3, '()']], ['empty'],
		[[1, 2, '[)'], 'empty'], [[2, 1, '[)']]]) {
		assert.throws(hash('integer', ...ranges), (error) => error instanceof KeyValueError &&
			/^(multi)?range: /.test(error.message));
	}
});

test('filters are equal if their bytes are', () => {
	const [f, g, h] = [[1, 2], [2, 1], [1]].map((keys) => CuckooFilter.build(keys, 'integer'));
	assert.ok(f.equals(g));
	assert.ok(!f.equals(h) && !h.equals(f) && !f.equals(f.data) && !f.equals(null));
});

test('every error is one of this package', () => {
	for (const error of [FormatError, KeyTypeError, KeyValueError]) {
		assert.ok(new error('x') instanceof CuckooFilterError);
		assert.equal(new error('x').name, error.name);
	}
});

test('hashes are those of docs/format.md; the seed may be signed', () => {
	assert.equal(hashKey('integer', 42), 0xfc72f81e15616341n);
	assert.equal(hashKey('text', 'cuckoo'), 0x19b8586d4fd9c2ccn);
	assert.equal(hashKey('text', 'x', -1), hashKey('text', 'x', 2n ** 64n - 1n));
	assert.equal(shard('integer', 1, 10), 2);
	for (const shards of [0, 2 ** 31, 1.5]) {
		assert.throws(() => shard('integer', 1, shards), RangeError);
	}
});
