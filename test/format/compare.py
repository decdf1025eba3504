#!/usr/bin/python3
"""Compares clients/python with docs/format.md and a server, for "test/run.sh format"."""

import math
import os
import random
import subprocess
import sys
from base64 import b64decode, b64encode
from collections import Counter
from itertools import product
from pathlib import Path

sys.dont_write_bytecode = True

from decimal import Decimal
from hashlib import md5

import page
from malformed import malformed
from writer import (capacity_of, codes_of, first_shape, make_dense, make_sparse, shape_for, write, write_keys,
                    write_partial)

from pgcuckoo import CuckooFilter, FormatError, hash_key, shard
from pgcuckoo.filter import DIRECTORY_BYTES, HEADER_BYTES, UNSET, UNSET_FILTER
from pgcuckoo.keys import signature
from pgcuckoo.tables import MAX_COPIES, Shape

GOLDEN = Path(__file__).parent.parent / 'golden'

passed = failed = 0


def test(ok, name, detail=''):
    global passed, failed
    if ok:
        passed += 1
    else:
        failed += 1
    print('%sok %d - %s' % ('' if ok else 'not ', passed + failed, name))
    if not ok and detail:
        print('#   %s' % detail)


# The texts of keys and rates below are meant so.
SETTINGS = '-c intervalstyle=postgres -c extra_float_digits=1'


def sql(command):
    """Runs SQL in a session of its own; returns the rows, as lists of text."""
    run = subprocess.run(['psql', '-XqAt', '-F', '\t', '-v', 'ON_ERROR_STOP=1'],
                         env={**os.environ, 'PGOPTIONS': SETTINGS}, input=command, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if run.returncode != 0:
        sys.exit('psql failed:\n%s\n%s' % (command[:2000], run.stdout))
    return [line.split('\t') for line in run.stdout.splitlines()]


def quote(text):
    return "'" + text.replace("'", "''") + "'"


# ---------------------------------------------------------------------- keys

DAY = 86400 * 10**6

# Key type, keys as SQL has them and as the package does.
KEYS = {
    'integer': [
        ('0::smallint', 0), ('(-1)::smallint', -1), ('32767::smallint', 32767),
        ('1', 1), ('-2147483648', -2**31), ('42::bigint', 42),
        ('(-9223372036854775808)::bigint', -2**63), ('9223372036854775807', 2**63 - 1),
        ('4294967295::oid', 4294967295)],
    'boolean': [('true', True), ('false', False)],
    '"char"': [("'x'::\"char\"", 'x'), ("''::\"char\"", b'\0'), ("' '::\"char\"", ' ')],
    'text': [
        ("''::text", ''), ("'cuckoo'::varchar", 'cuckoo'), ("'name'::name", 'name'),
        ("'padded'::char(12)", 'padded'), ("'blank '::text", 'blank '),
        ("'Kuckuck äöü'", 'Kuckuck äöü'), ("'カッコウ'", 'カッコウ'), ("'🐦'", '🐦')]
    + [("repeat('k', %d)" % n, 'k' * n) for n in
       (1, 3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 1000, 100000)],
    'bytea': [("'\\x'::bytea", b''), ("'\\x00ff'::bytea", '\\x00ff'),
              ("decode(repeat('ab', 3000), 'hex')", b'\xab' * 3000)],
    'bit': [("B''::varbit", ''), ("B'1'", '1'), ("B'101'::varbit", '101'),
            ("B'0000000011111111'::bit(16)", '0000000011111111'),
            ("repeat('110', 99)::varbit", '110' * 99)],
    'double precision': [
        ('0.1::float8', 0.1), ('0.1::real', 0.10000000149011612), ("'-0'::float8", 0.0),
        ("'NaN'::float8", float('nan')), ("'inf'::real", float('inf')),
        ("'-inf'::float8", float('-inf')), ('1e308::float8', 1e308), ('5e-324::float8', 5e-324)],
    'numeric': [
        (text + '::numeric' if text[0] != "'" else text + '::numeric', text.strip("'"))
        for text in ('0', '0.000', '1', '1.00', '10', '100', '1000', '10000', '100000', '12345678',
                     '0.1', '0.01', '0.001', '0.0001', '0.00001', '1.0001', "'-1.5'", "'-98765.4321'",
                     '99990000', '1e100', '1e-100', '123456789012345678901234567890.12345678901234567890',
                     "'NaN'", "'Infinity'", "'-Infinity'")],
    'money': [('12.34::numeric::money', 1234), ("(-5)::money", -500)],
    'uuid': [("'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid", 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'),
             ("'00000000-0000-0000-0000-000000000000'::uuid", '00000000-0000-0000-0000-000000000000')],
    'date': [("'2000-01-01'::date", 0), ("'1969-07-20'::date", -11122),
             ("'infinity'::date", 2**31 - 1), ("'-infinity'::date", -2**31)],
    'time': [("'00:00'::time", 0), ("'24:00'::time", DAY), ("'13:14:15.000016'::time", 47655000016)],
    'timetz': [("'13:14:15+02'::timetz", (47655000000, -7200)),
               ("'11:14:15+00'::timetz", (40455000000, 0)),
               ("'23:59:59.999999-15:59'::timetz", (DAY - 1, 57540))],
    'timestamp': [("'2013-08-01 12:00'::timestamp", 428673600 * 10**6),
                  ("'infinity'::timestamp", 2**63 - 1), ("'-infinity'::timestamp", -2**63)],
    'timestamptz': [("'2013-08-01 12:00+00'::timestamptz", 428673600 * 10**6),
                    ("'1999-12-31 23:59:59.999999+00'::timestamptz", -1),
                    ("'infinity'::timestamptz", 2**63 - 1)],
    'interval': [("'1 mon'::interval", (1, 0, 0)), ("'30 days'::interval", (0, 30, 0)),
                 ("'720:00:00'::interval", (0, 0, 30 * DAY)),
                 ("'-1 mon -00:00:01'::interval", (-1, 0, -10**6)),
                 ("'1 year -3 days 04:05:06.789'::interval", (12, -3, 14706789000)),
                 ("'178000000 years'::interval", (178000000 * 12, 0, 0))],
    'inet': [("'192.168.1.5/24'::inet", '192.168.1.5/24'), ("'10.0.0.0/8'::cidr", '10.0.0.0/8'),
             ("'10.0.0.0'::inet", '10.0.0.0/32'), ("'2001:db8::1'::inet", '2001:db8::1'),
             ("'::ffff:1.2.3.4/96'::inet", '::ffff:1.2.3.4/96')],
    'macaddr': [("'08:00:2b:01:02:03'::macaddr", '08:00:2b:01:02:03')],
    'macaddr8': [("'08:00:2b:01:02:03:04:05'::macaddr8", '08:00:2b:01:02:03:04:05')],
    'pg_lsn': [("'0/0'::pg_lsn", 0), ("'16/B374D848'::pg_lsn", 0x16B374D848)],
    'xid8': [("'0'::xid8", 0), ("'18446744073709551615'::xid8", 2**64 - 1)],
    'enum': [("'sad'::mood", 'sad'), ("'fröhlich'::mood", 'fröhlich')],
    'jsonb': [(quote(text) + '::jsonb', text) for text in (
        'null', 'true', 'false', '1', '1.50', '-2.5e3', '"b"', '"ä\\u00f6\\n"', '[]', '{}',
        '[1, [true, "b"], null]', '{"b": 1, "aa": {"x": []}, "a": [false, -2.5e3]}',
        '{"k": 1, "k": 2}', '[[[[]]], {"": ""}]', '{"ä": 1, "zz": 2, "z": 3, "abc": 4}')],
    ('array', 'integer'): [
        ("'{1,NULL,3}'::integer[]", [1, None, 3]), ("'{}'::bigint[]", []),
        ("'{{1,2,3},{4,5,6}}'::smallint[]", {'bounds': [[2, 1], [3, 1]], 'elements': [1, 2, 3, 4, 5, 6]}),
        ("'[-1:0]={7,8}'::integer[]", {'bounds': [[2, -1]], 'elements': [7, 8]}),
        ("'1 2'::int2vector", {'bounds': [[2, 0]], 'elements': [1, 2]}),
        ("'3 4294967295'::oidvector", {'bounds': [[2, 0]], 'elements': [3, 2**32 - 1]})],
    ('array', 'text'): [
        ("'[0:1][5:6]={{a,b},{c,\"\"}}'::text[]",
         {'bounds': [[2, 0], [2, 5]], 'elements': ['a', 'b', 'c', '']}),
        ("ARRAY['x ', NULL]::text[]", ['x ', None])],
    ('array', 'numeric'): [("'{1.0,1.00,NaN}'::numeric[]", ['1', '1', 'NaN'])],
    ('array', 'jsonb'): [("ARRAY['{\"a\": 1.0}', '2']::jsonb[]", ['{"a": 1}', '2'])],
    ('array', ('range', 'integer')): [
        ("ARRAY['[1,5)', 'empty', '(,3]']::int4range[]", [(1, 5, '[)'), 'empty', (None, 4, '[)')])],
    ('composite', ('integer', 'text', 'date')): [
        ("ROW(1, 'a'::text, NULL::date)", [1, 'a', None]),
        ("ROW(NULL::integer, ''::text, 'infinity'::date)", [None, '', 2**31 - 1])],
    ('composite', ('integer', 'enum')): [
        ("ROW(7, 'sad')::pair", [7, 'sad']), ("ROW(7, 'sad'::mood)", [7, 'sad']),
        ("ROW(NULL, NULL)::pair", [None, None])],
    ('composite', ()): [("ROW()", [])],
    ('composite', ('numeric', ('array', 'boolean'), 'record')): [
        ("ROW(1.50, ARRAY[true], ROW('x'::text))", ['1.5', [True], [('text', 'x')]]),
        ("ROW(0.0, '{}'::boolean[], ROW(NULL::text))", ['0', [], [('text', None)]])],
    ('array', ('composite', ('integer', 'enum'))): [
        ("ARRAY[ROW(7, 'sad'), NULL]::pair[]", [[7, 'sad'], None]), ("'{}'::pair[]", [])],
    ('array', 'record'): [
        ("ARRAY[ROW(1, 'a'::text), ROW(2, NULL::text)]",
         [[('integer', 1), ('text', 'a')], [('integer', 2), ('text', None)]]),
        # Only the first record is described, and by its value only what is not NULL in it
        ("ARRAY[ROW(1), ROW('x'::text)]", [[('integer', 1)], [('text', 'x')]]),
        ("ARRAY[NULL, ROW('x'::text), ROW(1)]", [None, [('text', 'x')], [('integer', 1)]]),
        ("ARRAY[ROW(1, NULL::record), ROW(1, ROW(2))]",
         [[('integer', 1), ('record', None)], [('integer', 1), ('record', [('integer', 2)])]]),
        ("ARRAY[ROW(1, ROW(2)), ROW(1, ROW('x'::text))]",
         [[('integer', 1), ('record', [('integer', 2)])], [('integer', 1), ('record', [('text', 'x')])]]),
        ("ARRAY[ROW(1, NULL::pair)]", [[('integer', 1), (('composite', ('integer', 'enum')), None)]]),
        ("ARRAY[NULL::record]", [None]), ("ARRAY[]::record[]", [])],
    ('range', 'integer'): [
        ("'[1,5)'::int4range", (1, 5, '[)')), ("'(1,5]'::int8range", (2, 6, '[)')),
        ("'empty'::int4range", 'empty'), ("'(,)'::int8range", (None, None, '()')),
        ("'[1,4]'::plain_range", (1, 4, '[]'))],
    ('range', 'numeric'): [("'(1.0,2.50]'::numrange", ('1', '2.5', '(]')),
                           ("'[,2)'::numrange", (None, '2', '()'))],
    ('range', 'date'): [("'[2000-01-01,2000-01-31]'::daterange", (0, 31, '[)'))],
    ('multirange', 'integer'): [
        ("'{[1,3),[7,)}'::int4multirange", [(1, 3, '[)'), (7, None, '[)')]),
        ("'{}'::int4multirange", []), ("'{[1,3),[2,9)}'::int8multirange", [(1, 9, '[)')])],
    ('multirange', 'timestamptz'): [
        ("'{(2000-01-01 00:00+00,2000-01-02 00:00+00]}'::tstzmultirange", [(0, DAY, '(]')])],
}


def compare_keys():
    for key_type, keys in KEYS.items():
        rows = sql("SET lc_monetary = 'C'; SET timezone = 'Asia/Kathmandu';" + ' '.join(
            'SELECT cuckoo_hash(k), cuckoo_hash(k, -7), cuckoo_shard(k, 1000) FROM (SELECT %s AS k) AS q;' % text
            for text, _ in keys))
        wrong = []
        for (text, value), row in zip(keys, rows):
            mine = [hash_key(key_type, value), hash_key(key_type, value, 2**64 - 7), shard(key_type, value, 1000)]
            if [int(cell) & (2**64 - 1) for cell in row] != mine:
                wrong.append(text)
        test(not wrong and len(rows) == len(keys),
             'hashes and shards of %d keys of type %s' % (len(keys), str(key_type)), ', '.join(wrong))


def refused(query):
    """Whether a query fails because key types do not match."""
    return sql("CREATE FUNCTION pg_temp.refused() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM %s; "
               "RETURN false; EXCEPTION WHEN datatype_mismatch THEN RETURN true; END $$; "
               'SELECT pg_temp.refused()' % query) == [['t']]


def compare_signatures():
    """A filter written with a signature accepts keys of that type and no others."""
    types = [(key_type, keys[0][0]) for key_type, keys in KEYS.items() if signature(key_type, keys[0][1])]
    for key_type, _ in types:
        rows = sql(' '.join("SELECT encode((cuckoo_new() + %s)::bytea, 'hex');" % text for text, _ in KEYS[key_type]))
        wrong = [text for (text, value), row in zip(KEYS[key_type], rows)
                 if CuckooFilter(bytes.fromhex(row[0])).signature != signature(key_type, value)]
        test(not wrong and len(rows) == len(KEYS[key_type]),
             'the signatures of %d keys of type %s' % (len(rows), str(key_type)), ', '.join(wrong))
    for (_, one), (_, other) in zip(types, types[1:] + types[:1]):
        test(refused('(cuckoo_new() + %s) @> %s' % (one, other)), 'a filter of %s has no answer for %s' % (one, other))


# ------------------------------------------------------------------- filters

def ask(name, query, questions):
    """Compares one filter: header, tables, classes and results of lookups.

    query returns the filter as f.  questions is a list of (key type, keys, values); keys is SQL,
    either a list of expressions or a sub-select of k in the order of i.
    """
    command = 'CREATE TEMP TABLE t AS %s;' % query
    command += "SELECT encode(f::bytea, 'hex') FROM t;"
    command += ('SELECT i.representation, i.key_type, i.items, i.capacity, i.target_fpr, i.expected_fpr, '
                'i.subfilters, i.seed, i.removable, i.format_version FROM t, cuckoo_info(f) AS i;')
    for _, keys, _ in questions:
        if isinstance(keys, list):
            command += 'SELECT concat(%s), concat(%s) FROM t;' % (
                ', '.join('cuckoo_count(f, %s)' % key for key in keys),
                ', '.join('(f @> %s)::integer' % key for key in keys))
            continue
        command += ("SELECT string_agg(cuckoo_count(f, k)::text, '' ORDER BY i), "
                    "string_agg(CASE WHEN f @> k THEN 1 ELSE 0 END::text, '' ORDER BY i) "
                    'FROM t, %s;' % keys)
    command += ('SELECT number, items, capacity, blocks, buckets, fingerprint_bits, bytes, representation, '
                'expected_fpr FROM t, cuckoo_subfilters(f);')
    rows = sql(command)
    mine = CuckooFilter(bytes.fromhex(rows[0][0]))
    representation, key_type, items, capacity, target, expected, tables, seed, removable, version = rows[1]
    wrong = []
    if ((representation or None) != mine.representation or int(items) != mine.items or
            (int(capacity) if capacity else 0) != mine.capacity or (float(target) if target else 0) != mine.target_fpr or
            int(tables) != len(mine.subfilters) or (int(seed) if seed else 0) & (2**64 - 1) != mine.seed or
            (removable == 't') != mine.removable or version != '1' or (key_type or None) != mine.key_type):
        wrong.append('header: %s' % rows[1])
    if not math.isclose(float(expected), mine.expected_fpr, rel_tol=1e-6):
        wrong.append('rate %s, not %g' % (expected, mine.expected_fpr))
    for (number, *row), table in zip(rows[2 + len(questions):], mine.subfilters):
        shape = table.shape
        if ([int(cell) for cell in row[:6]] != [table.items, capacity_of(shape), shape.blocks, shape.buckets,
                                               shape.bits, table.size()] or
                row[6] != table.representation or
                not math.isclose(float(row[7]), table.expected_fpr, rel_tol=1e-6)):
            wrong.append('table %s: %s' % (number, row))
    for table in mine.subfilters:
        codes = codes_of(table)
        if len(codes) != table.items or max(Counter(codes).values(), default=0) > MAX_COPIES:
            wrong.append('the classes are not its items')
        if table.representation == 'sparse' and table.data != make_sparse(table.shape, codes).data:
            wrong.append('a sparse table in another form')
    asked = found = 0
    for (key_type, _, values), (counts, contained) in zip(questions, rows[2:]):
        answers = ''.join(str(mine.count(value, key_type)) for value in values)
        asked += len(values)
        found += len(answers) - answers.count('0')
        if answers != counts:
            wrong.append('%d counts differ' % sum(a != b for a, b in zip(answers, counts)))
        if ''.join('01'[a != '0'] for a in answers) != contained:
            wrong.append('answers differ')
    shapes = ', '.join('%s %d x %d f=%d' % (t.representation, t.shape.blocks,
                                            t.shape.buckets, t.shape.bits) for t in mine.subfilters)
    test(not wrong, '%s: %s; %d answers, %d of them yes' % (name, shapes or 'no table', asked, found),
         '; '.join(wrong))
    return mine


def integers(first, last, step=1):
    return ('integer', '(SELECT i, i AS k FROM generate_series(%d, %d, %d) AS i) AS q' % (first, last, step),
            range(first, last + 1, step))


def texts(first, last):
    return ('text', "(SELECT i, 'key ' || i AS k FROM generate_series(%d, %d) AS i) AS q" % (first, last),
            ['key %d' % i for i in range(first, last + 1)])


def same_key_type(key_type, keys):
    """The keys with the signature of the first.  (That of arrays of records depends on values.)"""
    first = signature(key_type, keys[0][1])
    return [(text, value) for text, value in keys if signature(key_type, value) == first]


def compare_filters():
    mine = ask('unset', 'SELECT cuckoo_agg(i) AS f FROM generate_series(1, 0) AS i', [integers(1, 9)])
    test(mine.flags == UNSET, 'it is marked as unset')
    ask('empty', 'SELECT cuckoo_new(1e6, 0.05, -1) AS f', [texts(1, 9)])
    ask('emptied', 'SELECT cuckoo_new(seed => 5) + 1 - 1 AS f', [integers(1, 9)])

    # Of the keys of each type, every other one is in the filter.
    for key_type, keys in KEYS.items():
        keys = same_key_type(key_type, keys)
        added = ''.join(' + %s' % text for text, _ in keys[::2])
        ask('keys of type ' + str(key_type), 'SELECT cuckoo_new(seed => 9)%s AS f' % added,
            [(key_type, [text for text, _ in keys], [value for _, value in keys])])

    # A table of several blocks.
    mine = ask('several blocks', "SELECT cuckoo_agg('key ' || i, NULL, 0.01) AS f FROM generate_series(1, 300000) AS i",
               [texts(295001, 305000)])
    test(mine.subfilters[0].shape.blocks > 1 and mine.subfilters[0].representation == 'dense', 'dense, with several blocks')
    mine = ask('several sparse blocks', "SELECT cuckoo_agg('key ' || i, 1e7, 0.01) AS f FROM generate_series(1, 100000) AS i",
               [texts(95001, 105000)])
    test(mine.subfilters[0].shape.blocks > 1 and mine.subfilters[0].representation == 'sparse', 'sparse, with several blocks')

    # Thousands of keys of some types.
    for key_type, expression, value in BULK:
        question = (key_type, '(SELECT i, %s AS k FROM generate_series(1, 3000) AS i) AS q' % expression,
                    [value(i) for i in range(1, 3001)])
        ask('1,500 keys of type ' + str(key_type),
            'SELECT cuckoo_agg(k, NULL, 0.1) AS f FROM (SELECT %s AS k FROM generate_series(1, 1500) AS i) AS q' % expression,
            [question])

    # Filters that have grown.
    for name, new, keys in (('capacity 40', 'cuckoo_new(40, 0.1)', 20000),
                            ('capacity 1,000', 'cuckoo_new(1000, 0.01, 77)', 20000),
                            ('smallest rate', 'cuckoo_new(100, 2e-8)', 5000)):
        mine = ask('grown, ' + name,
                   'SELECT cuckoo_add_all(%s, array_agg(i)) AS f FROM generate_series(1, %d) AS i' % (new, keys),
                   [integers(1, 2 * keys, 1 + keys // 5000)])
        test(len(mine.subfilters) > 1 and mine.representation == 'mixed', 'there is more than one table, one of them sparse')
        fits = [first_shape(mine.target_fpr, mine.capacity)]
        while len(fits) < len(mine.subfilters):
            fits.append(next_shape(mine, fits[-1]))
        test([t.shape.key() for t in mine.subfilters] == [shape.key() for shape in fits], 'tables of the sizes written down')
    mine = ask('unknown capacity', 'SELECT cuckoo_add_all(cuckoo_new(fpr => 0.1, seed => 5), array_agg(i)) AS f '
               'FROM generate_series(1, 30000) AS i', [integers(1, 60000, 7)])
    test(mine.subfilters[0].shape.key() == first_shape(0.1, 0).key(), 'a table of the size written down')


def next_shape(mine, newest):
    """The shape that a filter with a small specified capacity grows by."""
    asked = first_shape(mine.target_fpr, mine.capacity).bits
    return shape_for(32 * capacity_of(newest), min(32, asked + 8, max(asked + 2, newest.bits + 1)))


BULK = [
    ('integer', 'i::smallint', lambda i: i),
    ('text', "md5(i::text)", lambda i: md5(str(i).encode()).hexdigest()),
    ('uuid', "md5(i::text)::uuid", lambda i: md5(str(i).encode()).hexdigest()),
    ('bytea', "decode(md5(i::text), 'hex')", lambda i: md5(str(i).encode()).digest()),
    ('numeric', 'i * 1234.5678 - 2000000', lambda i: Decimal(i) * Decimal('1234.5678') - 2000000),
    ('double precision', 'i / 7::float8', lambda i: i / 7),
    ('timestamptz', "'2000-01-01 00:00+00'::timestamptz + i * '1 hour 1 second'::interval",
     lambda i: i * 3601 * 10**6),
    ('date', "'2000-01-01'::date + i", lambda i: i),
    ('interval', "i * '-1 mon 5 days'::interval", lambda i: (-i, 5 * i, 0)),
    ('inet', "'10.0.0.0/8'::inet + i", lambda i: '10.0.%d.%d/8' % (i // 256, i % 256)),
    ('jsonb', "jsonb_build_object('id', i, 'n', i / 10.0)", lambda i: '{"n": %s, "id": %d}' % (Decimal(i) / 10, i)),
    (('array', 'integer'), 'ARRAY[i, -i]', lambda i: [i, -i]),
    (('range', 'integer'), 'int4range(i, 2 * i + 1)', lambda i: (i, 2 * i + 1, '[)')),
    (('composite', ('integer', 'text')), "ROW(i, 'x'::text)", lambda i: [i, 'x']),
]


# -------------------------------------------------- golden and written filters

# Key type, keys, rate, capacity and seed of the golden partial states, in which no key can be
# looked up
GOLDEN_STATES = {
    'partial': ('integer', range(1, 21), 0.01, 500, -77),
    'partial-array': (('array', 'integer'), [[1, None, 3], [], {'bounds': [[2, -1]], 'elements': [7, 8]}], 0.001, 0, 7),
    'partial-empty': (None, [], 0.01, 500, -77)}


def compare_states():
    """The golden partial states are written here with the same bytes."""
    lines = (GOLDEN / 'filters.tsv').read_text('utf-8').splitlines()
    texts = {name: text for name, *_, text in (line.split('\t') for line in lines)}
    for name, (key_type, keys, *parameters, seed) in GOLDEN_STATES.items():
        hashes = [hash_key(key_type, key, seed) for key in keys]
        test(b64decode(texts[name]) == write_partial(key_type, hashes, *parameters, seed), 'golden %s' % name)


def compare_written():
    """Both sides read filters written here alike, and the server returns the same bytes."""
    for dense in False, True:
        for bits in range(5, 33):
            keys = range(1, 251)
            seed = bits * 0x0123456789ABCDEF % 2**64
            tables = []
            shapes = [(1, 2 + 2 * (bits % 5), bits), (3, 30, bits), (2, 118, 37 - bits)]
            for i, shape in enumerate(Shape(*shape) for shape in shapes):
                codes = [shape.code(hash_key('integer', key, seed)) for key in keys[i::len(shapes)]]
                if dense:
                    codes = codes[:2 * shape.all_buckets]
                    table = make_dense(shape, codes) or make_sparse(shape, codes)
                else:
                    table = make_sparse(shape, codes + codes[::3] * 9)
                tables.append(table)
            data = write(tables, 'integer', 0.01, seed=seed)
            mine = ask('written here, %d bits' % bits,
                       "SELECT '\\x%s'::bytea::cuckoofilter AS f" % data.hex(), [integers(1, 600)])
            rows = sql("SELECT encode('\\x%s'::bytea::cuckoofilter::bytea, 'hex')" % data.hex())
            test(rows == [[data.hex()]] and mine.items > 0 and
                 any(table.representation == 'dense' for table in mine.subfilters) == dense, 'its bytes come back as they are')

    # If the table is sparse, both sides make the same bytes from the same keys.
    for capacity, count, fpr, seed in (0, 0, 0.001, 0), (0, 1, 1e-5, -1), (0, 1024, 0.1, 7), (1, 1, 0.001, 0), (
            500, 300, 0.01, 3), (10**6, 5000, 2e-8, -2**63), (3 * 10**8, 2000, 0.1, 1):
        rows = sql("SELECT encode(cuckoo_from_array(ARRAY(SELECT 'key ' || i FROM generate_series(1, %d) AS i), "
                   "%s, %r, %d)::bytea, 'hex')" % (count, capacity or 'NULL', fpr, seed))
        mine = write_keys('text', ['key %d' % i for i in range(1, count + 1)], fpr, capacity, seed % 2**64)
        test(rows == [[mine.hex()]], 'the same bytes of %d keys, capacity %d' % (count, capacity),
             rows[0][0][:200])


def altered_filters():
    """Small filters, and copies of them with bytes or bits changed, most of which are malformed."""
    random.seed(1)
    hashes = [hash_key('integer', i, 1) for i in range(40)]

    def table(make, shape, count):
        shape = Shape(*shape)
        return make(shape, [shape.code(hash_) for hash_ in hashes[:count]])

    start = [
        UNSET_FILTER,
        write([table(make_sparse, (1, 6, 5), 12), table(make_dense, (1, 8, 6), 9)], 'integer', 0.01, 5, 1),
        write([table(make_sparse, (1, 20, 5), 40), table(make_sparse, (2, 18, 12), 3)], 'text', 0.1),
        write([table(make_dense, (1, 2, 19), 3), table(make_dense, (1, 4, 7), 5)], ('array', 'text'), 0.02, 1, 2, 1),
        write([table(make_sparse, (1, 6, 32), 0)], None, 0.001),
        write([table(make_sparse, (1, 6, 32), 1)], ('composite', ('integer',)), 0.001),
        write([make_sparse(Shape(1, 6, 5), [9] * 8 + [11] + [40] * 7 + [63] * 2 + [95])], 'uuid', 0.1),
        write([make_dense(Shape(1, 2, 6), [0x10, 0x20, 0x30, 0x13, 0x23])], 'date', 0.1),
        write([make_sparse(Shape(1, 28, 5), [c for c in range(5, 448, 5) if c % 32])], 'integer', 0.1),
        write_partial('text', hashes[:3], 0.01, 0, 7),
        write_partial(('range', 'date'), [], 0.01, 9, 7),
        write_partial(None, [], 0.01, 9, 7)]
    cases = set(start) | set(malformed.values())
    # Hashes without a key type, and items without a key type in either representation.
    cases.add(write_partial(None, hashes[:2], 0.01))
    cases.update(write([table(make, (1, 6, 9), 3)], None, 0.01) for make in (make_sparse, make_dense))
    # An unset filter with bytes for a hash, and a start above the number of items.
    cases.add(UNSET_FILTER + bytes(8))
    several = make_sparse(Shape(1, 200, 5), range(1, 3200, 32))
    data = write([several], 'integer', 0.1)
    for i in range(several.sections):
        at = HEADER_BYTES + DIRECTORY_BYTES + 12 * i
        for value in 0, several.items - 1, several.items, several.items + 1, 4 * several.items, 2**31, 2**32 - 1:
            cases.add(data[:at] + value.to_bytes(4, 'little') + data[at + 4:])
        for j in range(at + 4, at + 12):
            for value in 0, data[j] - 1, data[j] + 1, 254, 255:
                cases.add(data[:j] + bytes([value % 256]) + data[j + 1:])
    # Empty tables of the same size in every order, and the same table twice.
    empty = [make_sparse(Shape(*shape), []) for shape in ((1, 6, 9), (2, 4, 6), (1, 8, 7), (2, 4, 7))]
    for tables in product(empty, repeat=3):
        data = write(tables, None, 0.01)
        entries = b''.join(write([table], None, 0.01)[HEADER_BYTES:HEADER_BYTES + DIRECTORY_BYTES] for table in tables)
        cases.add(data[:HEADER_BYTES] + entries + data[HEADER_BYTES + len(entries):])
    # A hash twice.
    data = write_partial('text', hashes[:2], 0.01)
    cases.add(data[:-16] + data[-24:-16] + data[-8:])
    for data in start:
        cases.update(data[:length] for length in range(len(data)))
        cases.update((data + b'\0', data + bytes(8)))
        for at in range(len(data)):
            values = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 15, 16, 23, 24, 27, 28, 32, 33, 63, 127, 128, 255}
            values.update(data[at] ^ 1 << bit for bit in range(8))
            for value in values:
                cases.add(data[:at] + bytes([value]) + data[at + 1:])
        for _ in range(300):
            changed = bytearray(data)
            for _ in range(random.randint(2, 4)):
                changed[random.randrange(len(data))] = random.choice((random.randrange(256), random.choice(data)))
            cases.add(bytes(changed))
            # Two bits near each other, which can exchange codes, entries, or a one and a zero.
            changed = bytearray(data)
            at = random.randrange(8 * len(data))
            for bit in at, (at + random.choice((1, 1, 2, 3, 5))) % (8 * len(data)):
                changed[bit // 8] ^= 1 << bit % 8
            cases.add(bytes(changed))
    return sorted(cases)


def compare_malformed():
    """Either both sides accept a value or both refuse it."""
    shown = [line.split('\t') for line in (GOLDEN / 'malformed.tsv').read_text('utf-8').splitlines()[1:]]
    test(shown == [[name, data.hex()] for name, data in malformed.items()], 'malformed.tsv is what malformed.py makes')
    cases = altered_filters()
    rows = sql('CREATE FUNCTION pg_temp.good(data bytea) RETURNS integer LANGUAGE plpgsql AS $$ BEGIN '
               'PERFORM data::cuckoofilter; RETURN 1; EXCEPTION WHEN invalid_binary_representation OR '
               'feature_not_supported THEN RETURN 0; END $$;'
               'CREATE TEMP TABLE c (i integer, data bytea); COPY c FROM STDIN;\n' +
               ''.join('%d\t\\\\x%s\n' % (i, data.hex()) for i, data in enumerate(cases)) +
               "\\.\nSELECT string_agg(pg_temp.good(data)::text, '' ORDER BY i) FROM c")
    mine = ''
    for data in cases:
        try:
            CuckooFilter(data)
            mine += '1'
        except FormatError:
            mine += '0'
    wrong = [cases[i].hex() for i, (a, b) in enumerate(zip(mine, rows[0][0])) if a != b]
    test(not wrong and len(mine) == len(rows[0][0]),
         '%d altered filters: both sides take the same %d' % (len(cases), mine.count('1')),
         '%d differ: %s' % (len(wrong), ' '.join(wrong[:5])))


def compare_text():
    """Both sides refuse text that is not base64 in the form that the page requires."""
    good = b64encode(write_keys('integer', [42, 43], 0.001, 9)).decode()
    assert good.endswith('=')
    texts = [good, ' ' + good, good + '\n', good[:8] + '\n' + good[8:], good + ' ', good.rstrip('='),
             good[:8] + '-_' + good[10:], good[:-4], '']
    rows = sql('CREATE FUNCTION pg_temp.good(form text) RETURNS integer LANGUAGE plpgsql AS $$ BEGIN '
               'PERFORM form::cuckoofilter; RETURN 1; EXCEPTION WHEN invalid_text_representation THEN RETURN 0; END $$;' +
               ' '.join("SELECT pg_temp.good('%s');" % text for text in texts))
    mine = []
    for text in texts:
        try:
            CuckooFilter.from_text(text)
            mine.append(['1'])
        except FormatError:
            mine.append(['0'])
    test(rows == mine == [['1']] + 8 * [['0']], 'text forms: both sides take the same', '%s, %s' % (rows, mine))


def set_up():
    sql("CREATE EXTENSION IF NOT EXISTS cuckoo; CREATE TYPE mood AS ENUM ('sad', 'fröhlich'); "
        'CREATE TYPE pair AS (a integer, b mood); CREATE TYPE plain_range AS RANGE (subtype = integer);')


if __name__ == '__main__':
    set_up()
    for right, example in page.examples():
        test(right, example)
    compare_keys()
    compare_signatures()
    compare_filters()
    compare_states()
    compare_written()
    compare_malformed()
    compare_text()
    print('%d passed, %d failed' % (passed, failed))
    sys.exit(failed > 0)
