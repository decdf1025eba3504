"""Keys of every key type, for compare.py."""

import json
from decimal import Decimal
from hashlib import md5


def quote(text):
    return "'" + text.replace("'", "''") + "'"


DAY = 86400 * 10**6

# Key type, keys as SQL has them and as the package does.
KEYS = {
    'integer': [
        ('0::smallint', 0), ('(-1)::smallint', -1), ('32767::smallint', 32767),
        ('1', 1), ('-2147483648', -2**31), ('42::bigint', 42),
        ('(-9223372036854775808)::bigint', -2**63), ('9223372036854775807', 2**63 - 1),
        ('4294967295::oid', 4294967295)],
    'boolean': [('true', True), ('false', False)],
    '"char"': [("'x'::\"char\"", 'x'), ("''::\"char\"", ''), ("' '::\"char\"", ' ')],
    'text': [
        ("''::text", ''), ("'cuckoo'::varchar", 'cuckoo'), ("'name'::name", 'name'),
        ("'padded'::char(12)", 'padded'), ("'blank '::text", 'blank '),
        ("'Kuckuck äöü'", 'Kuckuck äöü'), ("'カッコウ'", 'カッコウ'), ("'🐦'", '🐦')]
    + [("repeat('k', %d)" % n, 'k' * n) for n in
       (1, 3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 1000, 100000)],
    'bytea': [("'\\x'::bytea", '\\x'), ("'\\x00ff'::bytea", '\\x00ff'),
              ("decode(repeat('ab', 3000), 'hex')", '\\x' + 'ab' * 3000)],
    'bit': [("B''::varbit", ''), ("B'1'", '1'), ("B'101'::varbit", '101'),
            ("B'0000000011111111'::bit(16)", '0000000011111111'),
            ("repeat('110', 99)::varbit", '110' * 99)],
    'double precision': [
        ('0.1::float8', 0.1), ('0.1::real', 0.10000000149011612), ("'-0'::float8", 0.0),
        ("'NaN'::float8", float('nan')), ("'inf'::real", float('inf')),
        ("'-inf'::float8", float('-inf')), ('1e308::float8', 1e308), ('5e-324::float8', 5e-324)],
    'numeric': [
        (text + '::numeric', text.strip("'"))
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

# Thousands of keys of some types: SQL and Python that make them of i
BULK = [
    ('integer', 'i', int),
    ('integer', '(i / 2)::smallint', lambda i: i // 2),         # each of them twice
    ('text', "repeat('aä漢', i % 40) || i", lambda i: 'aä漢' * (i % 40) + str(i)),
    ('uuid', "md5(i::text)::uuid", lambda i: md5(str(i).encode()).hexdigest()),
    ('bytea', "decode(md5(i::text), 'hex')", lambda i: '\\x' + md5(str(i).encode()).hexdigest()),
    ('numeric', 'i * 1234.5678 - 2000000', lambda i: str(Decimal(i) * Decimal('1234.5678') - 2000000)),
    ('double precision', 'i / 7::float8', lambda i: i / 7),
    ('timestamptz', "'2000-01-01 00:00+00'::timestamptz + i * '1 hour 1 second'::interval",
     lambda i: i * 3601 * 10**6),
    ('date', "'2000-01-01'::date + i", lambda i: i),
    ('interval', "i * '-1 mon 5 days'::interval", lambda i: (-i, 5 * i, 0)),
    ('inet', "'10.0.0.0/8'::inet + i", lambda i: '10.%d.%d.%d/8' % (i >> 16, i >> 8 & 255, i & 255)),
    ('jsonb', "jsonb_build_object('id', i, 'n', i / 10.0)", lambda i: '{"n": %s, "id": %d}' % (Decimal(i) / 10, i)),
    ('jsonb', "jsonb_build_object('a', (SELECT jsonb_object_agg('k' || k, k / 2.0) FROM generate_series(0, i % 99) AS k), "
     "'b', ARRAY(SELECT k FROM generate_series(1, i % 77) AS k))",
     lambda i: json.dumps({'a': {'k%d' % k: k / 2 for k in range(i % 99 + 1)}, 'b': [*range(1, i % 77 + 1)]})),
    (('array', 'integer'), 'ARRAY[i, -i]', lambda i: [i, -i]),
    (('array', 'text'), "ARRAY(SELECT CASE WHEN (i + k) % 5 > 0 THEN repeat('é', k % 3) || repeat('w', i * k % 11) END "
     'FROM generate_series(1, i % 40) AS k)',
     lambda i: ['é' * (k % 3) + 'w' * (i * k % 11) if (i + k) % 5 else None for k in range(1, i % 40 + 1)]),
    (('array', ('composite', ('integer', 'enum'))), "ARRAY[ROW(i, 'sad'), NULL, ROW(NULL, 'fröhlich')]::pair[]",
     lambda i: [[i, 'sad'], None, [None, 'fröhlich']]),
    (('range', 'integer'), 'int4range(i, 2 * i + 1)', lambda i: (i, 2 * i + 1, '[)')),
    (('composite', ('integer', 'text', 'numeric')), "ROW(nullif(i % 10, 3), repeat('é', i % 90), i / 4.0)",
     lambda i: [None if i % 10 == 3 else i % 10, 'é' * (i % 90), str(Decimal(i) / 4)]),
]

# Strings that a package takes, or may not take, and characters to alter them with
STRINGS = {
    'integer': (['42', '-9223372036854775808', '010', '0x1f'], '0123456789-+ x_'),
    'money': (['12', '12.34', '-1'], '0123456789-. '),
    'xid8': (['42', '18446744073709551615', '010'], '0123456789-+ x'),
    'bytea': (['\\x', '\\x00ff', '\\x00FF20'], '0aF \\x\t\f'),
    'bit': (['', '101', '000000001'], '01 2Bx'),
    'numeric': (['1.50', '-12.5e3', '.5', '5.', '1e131071', '1e-16383', '0e-16384', 'NaN', '-Infinity', 'inf'],
                '0123456789.eE+- \u00a0\u0661'),
    'uuid': (['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{A0EEBC999C0B4EF8BB6D6BB9BD380A11}'], '-{} a0g'),
    'date': (['2026-01-31', '2000-02-29', '0001-01-01', '9999-12-31', '20260131', '2026-W05-6', '2026-031', 'infinity',
              '-infinity'], '0123456789-W '),
    'time': (['13:14', '13:14:15', '13:14:15.000016', '13:14:15.1234567', '13:14.5', '24:00:00', '23:59:60', '1314'],
             '0123456789:. T'),
    'timetz': (['13:14+02', '13:14:15.5-05:30', '13:14:15+01:02:03', '13:14Z', '13:14.5+02', '13:14+0530'],
               '0123456789:.+-Z '),
    'timestamp': (['2013-08-01 12:00', '2013-08-01T12:00:00.5', '2013-08-01x03:00', '2013-08-01 13:14.5', '-infinity',
                   '2013-08-01', '2013-08-01 12:00:00.1234567'], '0123456789:.-T '),
    'timestamptz': (['2013-08-01 12:00+00', '2013-08-01T12:00:00.5-05:30', '2013-08-01 12:00:00Z', 'infinity',
                     '2013-08-01+05:30', '2013-08-01 12:00:00.1234567Z'], '0123456789:.-+TZ '),
    'inet': (['192.168.1.5/24', '10.0.0.1', '10/8', '2001:db8::1/64', '::ffff:1.2.3.4', '::/0', '1::'], '0123456789abf:./'),
    'macaddr': (['08:00:2b:01:02:03', '08-00-2B-01-02-03', '0800.2b01.0203', '08002b010203', '8:0:2b:1:02:003'], ':-. 0a'),
    'macaddr8': (['08:00:2b:01:02:03:04:05', '0800.2b01.0203.0405', '08002b0102030405'], ':-. 0a'),
    'pg_lsn': (['16/B374D848', '0/0', 'FFFFFFFF/ffffffff'], '/0aF '),
    'jsonb': (['{"b": 1, "aa": {"x": []}, "a": [false, -2.5e3], "b": "\\u00e9\\n"}', '[1e400, -0, 1E+2, "\\ud83d\\ude00"]'],
              '[]{},:"\\01e-. tn\u00a0')}

# Bounds of ranges; of types with a discrete range type, one that is not discrete
BOUNDS = {
    'integer': ('plain_range', 'plain_multirange', [-2, 1, 3, None]),
    'numeric': ('numrange', 'nummultirange',
                ['-Infinity', '-10000', '-1.5', '-1', '0', '0.001', '1', '1.00001', '99999', 'NaN', None]),
    'double precision': ('double_range', 'double_ranges',
                         [float('-inf'), -1.0, 0.0, 1e-300, 2.0, float('inf'), float('nan'), None]),
    'timestamp': ('tsrange', 'tsmultirange', ['-infinity', '1999-12-31 23:59:59', '2000-01-01 00:00', 'infinity', None]),
    'timestamptz': ('tstzrange', 'tstzmultirange', ['2000-01-01 00:00Z', '2000-01-01 01:00+02', None]),
    'time': ('time_range', 'time_ranges', ['00:00', '13:14:15.5', '24:00', None]),
    'date': ('date_range', 'date_ranges', ['-infinity', '1999-12-31', '2000-01-01', None]),
}
