"""Reads and makes the filters of test/golden, which are PostgreSQL's.  No server is needed."""

import re
import unittest
from base64 import b64decode
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from ipaddress import IPv4Interface, IPv4Network, IPv6Address
from pathlib import Path
from time import process_time
from uuid import UUID

from pgcuckoo import (CuckooFilter, CuckooFilterError, FormatError, KeyTypeError,
                          KeyValueError, hash_key, shard)
from pgcuckoo.keys import ALIASES
from pgcuckoo.tables import Shape, SparseTable

GOLDEN = Path(__file__).parents[3] / 'test' / 'golden'


def lines(name):
    return [line.split('\t') for line in (GOLDEN / name).read_text('utf-8').splitlines()[1:]]


FILTERS = {name: (keys, text) for name, keys, _, _, text, *_ in lines('filters.tsv')}
HASHES = {name: [answer.split('*') for answer in hashes.split()]
          for name, _, _, _, _, hashes, *_ in lines('filters.tsv')}

UTC = timezone.utc
PLUS_TWO = timezone(timedelta(hours=2))

# All keys of each filter, in several forms; then keys that it does not contain.
KEYS = {
    'type-smallint': ([0, -1, 32767], [1, -32768]),
    'type-bigint': ([0, -2**63, 2**63 - 1], [1]),
    'type-oid': ([1, 2**32 - 1], [-1]),
    'type-boolean': ([True, False], []),
    'type-char': (['a', b'a', '', b'\0'], ['b']),
    'type-text': (['', 'cuckoo', 'Kuckuck äöü', 'Kuckuck äöü'.encode(), 'カッコウ', 'k' * 300],
                  ['k', 'cuckoo ']),
    'type-varchar': (['cuckoo', 'blank '], ['blank']),
    'type-bpchar': (['cuckoo', ''], ['cuckoo      ']),
    'type-name': (['cuckoo'], ['Cuckoo']),
    'type-bytea': ([b'', b'\x00\xff', bytearray(b'\x00\xff'), memoryview(b'\x00\xff'), '\\x00ff'],
                   [b'\xff', '\\x00']),
    'type-bit': (['101', '000'], ['1010', '']),
    'type-varbit': (['', '1', '0000000001'], ['10']),
    'type-real': ([0.10000000149011612, 0.0, -0.0, float('nan'), -float('nan'), float('-inf')],
                  [0.1, float('inf')]),
    'type-double': ([0.1, 1e308, float('nan')], [0.10000000149011612]),
    'type-numeric': ([0, Decimal('-0.00'), '1.5', Decimal('1.500'),
                      Decimal('-12345678901234567890.00001'), '1e100', 10**100, Decimal('NaN'),
                      'nan', Decimal('Infinity'), '-Infinity', Decimal('-inf')],
                     [1, Decimal('1.05'), '12345678901234567890.00001']),
    'type-money': ([1234], [12]),
    'type-uuid': (['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{A0EEBC999C0B4EF8BB6D6BB9BD380A11}',
                   UUID('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11')], [UUID(int=0)]),
    'type-date': ([date(2000, 1, 1), 0, '1969-07-20', date(1969, 7, 20), 'infinity', 2**31 - 1],
                  ['-infinity', date(2000, 1, 2)]),
    'type-time': ([time(), '00:00', '24:00', '24:00:00', 86400 * 10**6], [time(12), '23:59']),
    'type-timetz': (['13:14:15+02:00', time(13, 14, 15, tzinfo=PLUS_TWO), (47655 * 10**6, -7200),
                     time(11, 14, 15, tzinfo=UTC)], [time(13, 14, 15, tzinfo=UTC)]),
    'type-timestamp': ([datetime(2013, 8, 1, 12), '2013-08-01 12:00', 428673600 * 10**6,
                        '-infinity'], [datetime(2013, 8, 1), 'infinity']),
    'type-timestamptz': ([datetime(2013, 8, 1, 12, tzinfo=UTC), '2013-08-01T14:00:00+02:00',
                          datetime(2013, 8, 1, 14, tzinfo=PLUS_TWO), 'infinity'],
                         [datetime(2013, 8, 1, 14, tzinfo=UTC), '-infinity']),
    'type-interval': ([timedelta(days=30), (1, 0, 0), (0, 0, 30 * 86400 * 10**6),
                       timedelta(days=-3, hours=4, minutes=5, seconds=6.789)], [timedelta(1)]),
    'type-inet': (['192.168.1.5/24', IPv4Interface('192.168.1.5/24'), '2001:db8::1',
                   IPv6Address('2001:db8::1'), '2001:DB8:0:0::1/128'],
                  ['192.168.1.5', '2001:db8::1/64']),
    'type-cidr': ([IPv4Network('10.0.0.0/8'), '10.0.0.0/8'], ['10.0.0.0']),
    'type-macaddr': (['08:00:2b:01:02:03', '0800.2b01.0203'], ['08:00:2b:01:02:04']),
    'type-macaddr8': (['08:00:2b:01:02:03:04:05', '08002b0102030405'],
                      ['08:00:2b:01:02:03:04:06']),
    'type-pg-lsn': ([0, '0/0', '16/B374D848', 0x16B374D848], [1]),
    'type-xid8': ([0, '0', 2**64 - 1, '18446744073709551615'], [1, '1']),
    'type-enum': (['sad', 'fröhlich'], ['happy']),
    'type-jsonb': (['null', '{"b":1,"aa":{"x":[]},"a":[false,-2500]}', '"\\u00e4"'],
                   ['"null"', '{}']),
}

# The same with key types made of parts, which have to be named
NESTED_KEYS = {
    'type-range': (('range', 'integer'), [(1, 5, '[)'), 'empty', (None, None, '()')],
                   [(1, 6, '[)')]),
    'type-multirange': (('multirange', 'integer'), [[(1, 5, '[)'), (7, 9, '[)')], []],
                        [[(1, 5, '[)')]]),
    'type-composite': (('composite', ('integer', 'text', 'integer')), [[1, 'x', None], (2, 'y', 3)],
                       [[1, 'x', 3]]),
    'type-array-integer': (('array', 'integer'), [
        [1, None, 3], [], {'bounds': [[2, 1], [2, 1]], 'elements': [1, 2, 3, 4]},
        {'bounds': [[2, -1]], 'elements': [7, 8]}], [[7, 8], [1, 3]]),
    'type-array-text': (('array', 'text'), [['x', None]], [['x']]),
    'type-array-range': (('array', ('range', 'numeric')), [[('1', '5.0', '[)'), 'empty']],
                         [['empty']]),
    'type-array-record': (('array', 'record'), [
        [[('integer', 1), ('text', 'x')], [('integer', 2), ('text', None)]]],
        [[[('integer', 1), ('text', 'y')]]]),
    'type-composite-nested': (('composite', ('numeric', ('array', 'boolean'), 'record')),
                              [[Decimal('1.5'), [True], [('text', 'x')]]],
                              [[Decimal('1.5'), [False], [('text', 'x')]]]),
}

# Values that are none of their key type
WRONG = {
    'integer': [2**63, -2**63 - 1, 1.0, '1', True], 'boolean': [1, 'true'], '"char"': ['ab', 'ä'],
    'text': [1, 'a\0b', '\ud800'], 'bytea': ['00ff', '\\x0', '\\x00 ff', 1], 'bit': ['12', 5],
    'double precision': ['0.1', 1],
    'numeric': [0.1, True, '1,5', '0x1', '', '1e999999', '1e-16384', 'sNaN'],
    'money': ['$1', '1'],
    'uuid': ['a0eebc99', 'x' * 32, 'a0eebc999c0b4ef8-bb6d6bb9bd380a1-1', '{' + '0' * 32, 1],
    'date': ['2000-02-30', '20000101', '2000-W01-1', 2**31, datetime(2000, 1, 1), ''],
    # PostgreSQL reads 13:14.5 as 13 minutes, and rounds the seventh digit.
    'time': ['25:00', time(1, tzinfo=UTC), '13:00+02', '13', '13:14.5', '13:14:15.1234567'],
    'timetz': [time(1), '13:00', '13:14.5+02', '13:00+16', '13:00+01:00:00.5',
               time(1, tzinfo=timezone(timedelta(microseconds=1))), (1, 2, 3), 5],
    'timestamp': ['2000-01-01 00:00+00', '2000-01-01', '2000-01-01x03:00', '2000-01-01 13:14.5',
                  '2000-01-01 24:00', datetime(2000, 1, 1, tzinfo=UTC), date(2000, 1, 1)],
    'timestamptz': ['2000-01-01 00:00', '2000-01-01+05:30', '2000-01-01 13:14:15.1234567Z',
                    datetime(2000, 1, 1)],
    'interval': [(1, 2), (2**31, 0, 0), 'P1M', 1], 'inet': ['10.0.0', '10.0.0.0/33', '::/08', 5,
                                                          'fe80::1%1', '10.0.0.0/255.0.0.0'],
    'macaddr': ['08:00', '08:0:2b:001:02:03', '08:00-2b:01:02:03', 1],
    'macaddr8': ['08:00:2b:01:02:03'], 'pg_lsn': ['16', -1, 2**64],
    'xid8': [-1, '010', '18446744073709551616', '5' * 10000], 'enum': [1],
    'jsonb': ['{', 'NaN', '01', '"\\u0000"', '"\\ud800"', {'a': 1}],
    ('array', 'integer'): [5, ['x'], {'bounds': [[2, 1]], 'elements': [1]}, {'elements': []},
                           {'bounds': [[0, 1]], 'elements': []},
                           {'bounds': [[-1, 1], [-1, 1]], 'elements': [1]}],
    ('composite', ('integer',)): [[1, 2], 'x'], ('range', 'integer'): [(1, 2, '{}'), (1, 2)],
    ('multirange', 'integer'): ['empty'], 'record': [[1], [('integer', 'x')]],
}


class Golden(unittest.TestCase):
    def test_all_answers(self):
        """Each filter has the copies of hashes that the server counted."""
        self.assertGreater(len(FILTERS), 120)
        for name, (_, text) in FILTERS.items():
            with self.subTest(name):
                f = CuckooFilter.from_text(text)
                self.assertGreaterEqual(len(HASHES[name]), 10)
                for hash_, copies in HASHES[name]:
                    if f.partial:
                        self.assertRaises(FormatError, f.count_hash, int(hash_, 16))
                    else:
                        self.assertEqual(f.count_hash(int(hash_, 16)), int(copies))

    def test_integers(self):
        """Filters of the integers from 1 on contain them, and few others."""
        found = 0
        for name, (keys, text) in FILTERS.items():
            last = re.fullmatch(r'SELECT k FROM generate_series\(1, (\d+)\) AS k', keys)
            f = CuckooFilter(b64decode(text))
            if not last or f.partial:
                continue
            found += 1
            with self.subTest(name):
                keys = range(1, int(last[1]) + 1)
                self.assertTrue(f.contains_all(keys))
                self.assertEqual(f.items if f.removable else len(keys), len(keys))
                wrong = f.contains_each(range(1001, 2001)) if len(keys) <= 1000 else []
                self.assertLess(wrong.count(True), 200)
        self.assertGreater(found, 50)

    def check(self, name, key_type, present, absent):
        f = CuckooFilter.from_text(FILTERS[name][1])
        known = {int(hash_, 16) for hash_, copies in HASHES[name] if copies != '0'}
        hashes = {hash_key(key_type or f.key_type, key, f.seed) for key in present}
        self.assertLessEqual(hashes, known)
        self.assertEqual(len(hashes), f.items)
        self.assertTrue(f.contains_all(present, key_type))
        self.assertFalse(f.contains_any(absent, key_type))
        self.assertEqual(f.contains_each(present[:1] + absent, key_type),
                         [True] + [False] * len(absent))
        return f

    def test_keys_of_every_type(self):
        for name, (present, absent) in KEYS.items():
            with self.subTest(name):
                f = self.check(name, None, present, absent)
                self.assertIn(present[0], f)
                self.assertEqual(f.count(present[0], f.key_type), 1)
                self.assertRaises(KeyTypeError, f.count, present[0], 'record')
                self.assertRaises(KeyValueError, f.count, None)
                self.assertRaises(KeyValueError, f.count, object())

    def test_keys_made_of_parts(self):
        for name, (key_type, present, absent) in NESTED_KEYS.items():
            with self.subTest(name):
                f = self.check(name, key_type, present, absent)
                self.assertRaises(KeyTypeError, f.count, present[0])
                self.assertRaises(KeyTypeError, f.count, 'x', 'text')
                inside = ('xid8',) * len(present[0]) if key_type[0] == 'composite' else 'xid8'
                self.assertRaises(KeyTypeError, f.count, present[0], (key_type[0], inside))

    def test_partial_states(self):
        for name in 'partial', 'partial-array', 'partial-empty':
            f = CuckooFilter.from_text(FILTERS[name][1])
            self.assertTrue(f.partial)
            self.assertEqual(f.info().representation, 'partial')
            self.assertRaises(FormatError, f.count, 1)
            self.assertRaises(FormatError, f.contains, 1, 'integer')
        self.assertEqual(CuckooFilter.from_text(FILTERS['partial'][1]).hashes,
                         sorted(hash_key('integer', i, -77) for i in range(1, 21)))

    def test_without_keys(self):
        for name in 'unset', 'empty', 'empty-capacity':
            f = CuckooFilter.from_text(FILTERS[name][1])
            self.assertIsNone(f.key_type)
            self.assertNotIn('x', f)
            self.assertEqual(f.count(1, 'integer'), 0)
            self.assertEqual(f.contains_each(['a', 1]), [False, False])
            self.assertRaises(KeyValueError, f.contains, None)
            self.assertRaises(KeyValueError, f.count, None, 'integer')
        self.assertFalse(f.contains_any([]))
        self.assertTrue(f.contains_all([]))

    def test_info(self):
        self.assertEqual(CuckooFilter.from_text(FILTERS['unset'][1]).info(), (
            1, None, None, 0, None, None, 0, 0, None, True))
        self.assertEqual(CuckooFilter.from_text(FILTERS['empty-capacity'][1]).info(), (
            1, 'sparse', None, 0, 500, 0.01, 0, 1, -77, True))
        info = CuckooFilter.from_text(FILTERS['one'][1]).info()
        self.assertEqual('%.4e' % info.expected_fpr, '4.0697e-05')
        self.assertEqual(info._replace(expected_fpr=0), (
            1, 'sparse', 'integer', 1, 1, 0.001, 0, 1, 0, True))
        f = CuckooFilter.from_text(FILTERS['written-mixed'][1])
        self.assertEqual(f.info().representation, 'mixed')
        self.assertEqual([(table.representation, table.shape.bits) for table in f.subfilters],
                         [('dense', 9), ('dense', 14), ('sparse', 20)])
        for name, rate in ('union', '6.7415e-03'), ('union-apart', '6.4910e-03'):
            info = CuckooFilter.from_text(FILTERS[name][1]).info()
            self.assertFalse(info.removable)
            self.assertEqual('%.4e' % info.expected_fpr, rate)


class Build(unittest.TestCase):
    def test_integers(self):
        """The bytes are those of a golden filter, or the answers if that has a dense table."""
        found = {'sparse': 0, 'dense': 0}
        for name, keys, made, *_ in lines('filters.tsv'):
            last = re.fullmatch(r'SELECT k FROM generate_series\(1, (\d+)\) AS k', keys)
            made = re.fullmatch(r'cuckoo_agg\(k(?:, (\w+), (\S+))?\)', made)
            if not last or not made:
                continue
            with self.subTest(name):
                golden = CuckooFilter.from_text(FILTERS[name][1])
                capacity = None if made[1] in (None, 'NULL') else int(made[1])
                f = CuckooFilter.build(range(1, int(last[1]) + 1), 'integer', capacity,
                                       float(made[2] or 0.001))
                self.assertEqual(f.representation, 'sparse')
                if golden.representation == 'sparse':
                    self.assertEqual(f.to_text(), FILTERS[name][1])
                self.assertEqual(f.info()._replace(representation=None),
                                 golden.info()._replace(representation=None))
                self.assertEqual([f.count_hash(int(hash_, 16)) for hash_, _ in HASHES[name]],
                                 [int(copies) for _, copies in HASHES[name]])
                found[golden.representation] += 1
        self.assertGreater(min(found.values()), 20)

    def test_keys_of_every_type(self):
        """The bytes are those of a golden filter; no key is added twice, and None is no key."""
        cases = [(name, CuckooFilter.from_text(FILTERS[name][1]).key_type, present)
                 for name, (present, _) in KEYS.items()]
        cases += [(name, key_type, present) for name, (key_type, present, _) in NESTED_KEYS.items()]
        for name, key_type, present in cases:
            with self.subTest(name):
                fpr = CuckooFilter.from_text(FILTERS[name][1]).target_fpr
                f = CuckooFilter.build([None, *present, *present], key_type, fpr=fpr)
                self.assertEqual(f.to_text(), FILTERS[name][1])

    def test_without_keys(self):
        text = FILTERS['empty-capacity'][1]
        self.assertEqual(CuckooFilter.build([], 'text', 500, 0.01, -77).to_text(), text)
        self.assertEqual(CuckooFilter.build(iter([None]), 'uuid', 499.01, 0.01, 2**64 - 77).to_text(),
                         text)
        self.assertEqual(CuckooFilter.build([], 'record').to_text(), FILTERS['empty'][1])

    def test_capacity(self):
        """Beyond 1,024 keys, or beyond the capacity specified, the keys are counted."""
        for count, capacity, known in ((1024, None, None), (1025, None, 1025), (9, 10, 10),
                                       (10, 9.1, 10), (11, 10, 11)):
            f = CuckooFilter.build(range(count), 'integer', capacity)
            self.assertEqual(f.info().capacity, known)

    def test_copies(self):
        """A table stores eight copies of a class, and leaves out more."""
        shape = Shape(1, 200, 5)
        table = SparseTable.of_codes(shape, [9] * 8 + [11] * 20 + [40] * 7)
        self.assertEqual(table.codes(), [9] * 8 + [11] * 8 + [40] * 7)
        table.validate()
        # The index has 255 where a section has more codes.
        table = SparseTable.of_codes(
            shape, [code for code in range(1, 3200) if code % 32 for _ in range(8)])
        self.assertIn(255, table.data[:12])
        table.validate()
        self.assertEqual([table.count_code(code) for code in (31, 32, 33, 3199)], [8, 0, 8, 8])

    def test_errors(self):
        def build(*arguments):
            return lambda: CuckooFilter.build([1], 'integer', *arguments)

        nan, infinity = float('nan'), float('inf')
        for error, message, call in (
                *((ValueError, 'capacity must be at least 1 key', build(capacity))
                  for capacity in (0, 0.999, -1, nan, -infinity)),
                *((ValueError, 'capacity is too large', build(capacity))
                  for capacity in (1517813760.5, 2**64, infinity)),
                *((ValueError, 'false-positive rate must be between', build(None, fpr))
                  for fpr in (0, 0.11, 1.9e-8, nan, -1)),
                (ValueError, 'the capacity comes before the rate', build(1, 1000)),
                (ValueError, 'cuckoofilter would be too large', build(1e9, 1e-5)),
                *((ValueError, 'seed has more than 64 bits', build(None, 0.1, seed))
                  for seed in (2**64, -2**63 - 1)),
                *((TypeError, 'is not', build(*arguments)) for arguments in (
                    ('1',), (True,), (None, None), (None, '0.1'), (None, 0.1, 1.0),
                    (None, 0.1, None), (None, 0.1, True))),
                (KeyTypeError, "no key type: 'real'; there are .*jsonb.*, record, .*: .*cidr",
                 lambda: CuckooFilter.build([], 'real')),
                (KeyTypeError, 'key types differ', lambda: CuckooFilter.build(
                    [[('integer', 1)], [('text', 'x')]], 'record')),
                (KeyValueError, 'integer', lambda: CuckooFilter.build(['x'], 'integer')),
                (TypeError, 'iterable', lambda: CuckooFilter.build(5, 'integer'))):
            with self.subTest(message):
                self.assertRaisesRegex(error, message, call)
        self.assertEqual(build(1e9, 0.1, -2**63)().info().capacity, 10**9)


class Malformed(unittest.TestCase):
    def test_rules(self):
        """A value that breaks any rule of validation is refused."""
        rules = lines('malformed.tsv')
        self.assertGreater(len(rules), 60)
        for name, data in rules:
            with self.subTest(name):
                self.assertRaises(FormatError, CuckooFilter, bytes.fromhex(data))

    def test_lengths(self):
        """Golden filters that are cut off or continued are refused."""
        for name in 'unset', 'one', 'type-text', 'dense-10', 'written-mixed', 'partial':
            data = b64decode(FILTERS[name][1])
            for length in range(len(data)):
                # A partial state without its last hashes would be another one.
                if name != 'partial' or length % 8 != 4:
                    self.assertRaises(FormatError, CuckooFilter, data[:length])
            self.assertRaises(FormatError, CuckooFilter, data + b'\0')
            self.assertRaises(FormatError, CuckooFilter, data + bytes(12))

    def test_unvalidated(self):
        """Without validation, lengths are checked, and lookups in wrong tables end."""
        for name, data in lines('malformed.tsv'):
            with self.subTest(name):
                try:
                    f = CuckooFilter(bytes.fromhex(data), validate=False)
                    for hash_ in range(0, 2**64, 2**58):
                        self.assertIn(f.count_hash(hash_), range(9))
                except FormatError:
                    pass
        data = b64decode(FILTERS['dense-10'][1])
        self.assertRaises(FormatError, CuckooFilter, data[:-1], validate=False)
        f = CuckooFilter.from_text(FILTERS['dense-10'][1], validate=False)
        self.assertTrue(f.contains_all(range(1, 61)))

    def test_text(self):
        text = FILTERS['unset'][1]
        self.assertTrue(text.endswith('='))
        # A line as COPY writes it
        for line in text + '\n', text + '\r\n':
            self.assertEqual(CuckooFilter.from_text(line).to_text(), text)
        for wrong in (' ' + text, text + '\n\n', text + '\r', text + '\n ', '\n' + text,
                      text[:8] + '\n' + text[8:], text.rstrip('='), text[:8] + '-_' + text[10:], text[:-4], '', 'ä'):
            self.assertRaises(FormatError, CuckooFilter.from_text, wrong)

    def test_values(self):
        for key_type, values in WRONG.items():
            for value in values + [None]:
                with self.subTest(key_type=key_type, value=value):
                    self.assertRaises(KeyValueError, hash_key, key_type, value)
        self.assertRaises(KeyValueError, hash_key, 'integer', 10**5000)     # too long to be shown
        start = process_time()
        self.assertRaises(KeyValueError, hash_key, 'numeric', '1' * 30000 + 'x')
        self.assertLess(process_time() - start, 3)     # in quadratic time, half a minute

    def test_key_types(self):
        for key_type in ('json', 'real', 'char', 'character', 'bpchar', 'Integer', 'array', ('array',), ('text', 'text'), 5, ('array', 'json'), '',
                         (['array'], 'text'), ('composite', None), ('composite', 'text')):
            with self.subTest(key_type):
                self.assertRaises(KeyTypeError, hash_key, key_type, [1])

    def test_types_of_values(self):
        """The error names the type of a value that looks like another."""
        class int64:
            """As numpy.int64, which is no int."""

            def __repr__(self):
                return '5'

        int64.__module__ = 'numpy'
        for key_type, value, message in (
                ('integer', int64(), 'integer: 5 is of type numpy.int64, not int'),
                ('numeric', int64(), 'numeric: 5 is of type numpy.int64, not Decimal, int or str'),
                ('integer', True, 'integer: True is of type bool, not int'),
                ('boolean', int64(), 'boolean: 5 is of type numpy.int64, not bool'),
                ('double precision', 1, 'double precision: 1 is of type int, not float'),
                ('text', 5, 'text: 5 is of type int, not str or bytes'),
                ('date', datetime(2026, 1, 31), r'date: .* is of type datetime.datetime, not date, str or int'),
                ('time', 1.5, 'time: 1.5 is of type float, not time, str or int'),
                ('timestamp', date(2026, 1, 31), r'timestamp: .* is of type datetime.date, not datetime, str or int'),
                ('timestamptz', date(2026, 1, 31), 'timestamptz: .* is of type datetime.date, not')):
            with self.subTest(message):
                self.assertRaisesRegex(KeyValueError, message, hash_key, key_type, value)

    def test_single_key(self):
        """A single key is no list of keys: its characters would be taken for keys."""
        f = CuckooFilter.build(['a', 'x'], 'text')
        for key in 'ax', '', b'ax', bytearray(b'ax'), memoryview(b'ax'):
            for call in (f.contains_each, f.contains_any, f.contains_all,
                         lambda keys: CuckooFilter.build(keys, 'text')):
                self.assertRaisesRegex(TypeError, 'is one key, not a list of keys', call, key)
        self.assertTrue(f.contains_any(iter(['b', 'x'])))

    def test_data(self):
        for wrong in [], 44, None:
            self.assertRaisesRegex(TypeError, 'a filter is made of bytes, not [A-Za-z]+$', CuckooFilter, wrong)
        self.assertRaisesRegex(TypeError, r'not str; .* from_text\(\)', CuckooFilter, FILTERS['one'][1])
        data = b64decode(FILTERS['one'][1])
        self.assertEqual(CuckooFilter(bytearray(data)), CuckooFilter(memoryview(data)))

    def test_errors(self):
        """Every error can be caught as one of this package."""
        for error in FormatError, KeyTypeError, KeyValueError:
            self.assertTrue(issubclass(error, CuckooFilterError))


class Range:
    """As psycopg's and asyncpg's."""

    def __init__(self, lower=None, upper=None, bounds='[)', isempty=False):
        self.lower, self.upper, self.isempty = lower, upper, isempty
        self.lower_inc, self.upper_inc = bounds[0] == '[', bounds[1] == ']'


class Ranges(unittest.TestCase):
    ASCENDING = {
        'integer': (-5, 1, 2), 'bigint': (-5, 10**10), 'money': (1, 2),
        'numeric': ('-Infinity', -20000, Decimal(-12345), '-1.5', -1, '-0.001', 0, '0.001', 1,
                    '1.00001', 99999, 'Infinity', Decimal('sNaN')),
        'double precision': (float('-inf'), -1.0, 0.0, 1.5, float('inf'), float('nan')),
        'date': ('-infinity', '1999-12-31', date(2000, 1, 1), 5), 'time': (time(1), '13:00', '24:00'),
        'timestamp': ('1999-01-01 00:00', datetime(2000, 1, 1, 0, 0, 1)),
        'timestamptz': ('2000-01-01 12:00+02', datetime(2000, 1, 1, 11, tzinfo=UTC)),
    }

    def test_bounds(self):
        """Equal bounds are both in the range, and a lower bound is not above the upper one."""
        for bound, ascending in self.ASCENDING.items():
            for i, lower in enumerate(ascending):
                hash_key(('range', bound), (lower, lower, '[]'))
                for brackets in '[)', '(]', '()':
                    self.assertRaises(KeyValueError, hash_key, ('range', bound), (lower, lower, brackets))
                for upper in ascending[i + 1:]:
                    with self.subTest(bound, lower=lower, upper=upper):
                        hash_key(('range', bound), (lower, upper, '()'))
                        self.assertRaises(KeyValueError, hash_key, ('range', bound), (upper, lower, '[]'))
        # A collation may have this order, but equal bounds are equal.
        hash_key(('range', 'text'), ('b', 'a', '[)'))
        self.assertRaises(KeyValueError, hash_key, ('range', 'text'), ('a', b'a', '[)'))
        self.assertRaises(KeyValueError, hash_key, ('array', ('range', 'integer')), [(2, 1, '[)')])
        self.assertRaises(KeyValueError, hash_key, ('range', 'double precision'), (1.0, 'x', '[)'))

    def test_multiranges(self):
        """The ranges of a multirange ascend, with gaps between them, and are not empty."""
        for bound, ranges in (('integer', []), ('integer', [(1, 2, '[)'), (3, 4, '[)')]),
                              ('numeric', [(None, 1, '()'), (1, 2, '()'), (2, 3, '(]'), (4, None, '[)')])):
            hash_key(('multirange', bound), ranges)
        for ranges in ([(3, 4, '[)'), (1, 2, '[)')], [(1, 3, '[)'), (2, 4, '[)')],
                       [(1, 2, '[)'), (2, 3, '[)')], [(1, 2, '(]'), (2, 3, '()')],
                       [(1, 2, '[]'), (2, 3, '[]')], [(1, None, '[)'), (2, 3, '[)')],
                       [(1, 2, '[)'), (None, 3, '()')], ['empty'], [(1, 2, '[)'), 'empty'],
                       [(2, 1, '[)')], 'empty', b'', {}, 5):
            with self.subTest(ranges):
                self.assertRaisesRegex(KeyValueError, '^(multi)?range: ', hash_key, ('multirange', 'integer'), ranges)

    def test_objects(self):
        for made, plain in ((Range(1, 5), (1, 5, '[)')), (Range(None, 5, '()'), (None, 5, '()')),
                            (Range(1, None), (1, None, '[)')), (Range(1, 1, '[]'), (1, 1, '[]')),
                            (Range(1, 5, '(]'), (1, 5, '(]')), (Range(isempty=True), 'empty')):
            self.assertEqual(hash_key(('range', 'numeric'), made), hash_key(('range', 'numeric'), plain))
        self.assertEqual(hash_key(('multirange', 'integer'), [Range(1, 2), Range(3, 4)]),
                         hash_key(('multirange', 'integer'), [(1, 2, '[)'), (3, 4, '[)')]))
        self.assertRaises(KeyValueError, hash_key, ('range', 'integer'), Range(2, 1))


class Hashes(unittest.TestCase):
    def test_names(self):
        """Other names in SQL are those of the same key type."""
        names_of = {name: [name] for name in ALIASES.values()}
        for alias, name in ALIASES.items():
            names_of[name].append(alias)
        for name, value in (('integer', 5), ('text', 'a'), ('boolean', True), ('bit', '101'), ('numeric', '1.5'),
                            ('double precision', 1.5), ('inet', '10.0.0.0/8'), ('time', time(12)),
                            ('timetz', '12:00Z'), ('timestamp', datetime(2026, 1, 1)),
                            ('timestamptz', datetime(2026, 1, 1, tzinfo=UTC))):
            for alias in names_of.pop(name):
                f = CuckooFilter.build([value], alias)
                self.assertEqual(f.key_type, name)
                self.assertTrue(f.contains(value, alias) and f.contains(value, name))
                self.assertTrue(CuckooFilter.build([[value]], ('array', alias)).contains([value], ('array', name)))
        self.assertEqual(names_of, {})

    def test_equal(self):
        """Filters are equal, and hash equally, if their bytes are equal."""
        f, g, h = (CuckooFilter.build(keys, 'integer') for keys in ([1, 2], [2, 1], [1]))
        self.assertEqual(f, g)
        self.assertNotEqual(f, h)
        self.assertNotEqual(f, f.data)
        self.assertEqual(len({f, g, h}), 2)

    def test_page(self):
        """Examples of docs/format.md; the seed may be signed."""
        self.assertEqual(hash_key('integer', 42), 0xfc72f81e15616341)
        self.assertEqual(hash_key('text', 'cuckoo'), 0x19b8586d4fd9c2cc)
        self.assertEqual(hash_key('text', 'x', -1), hash_key('text', 'x', 2**64 - 1))
        self.assertEqual(shard('integer', 1, 10), 2)
        for shards in 0, 2**31:
            self.assertRaises(ValueError, shard, 'integer', 1, shards)


if __name__ == '__main__':
    unittest.main()
