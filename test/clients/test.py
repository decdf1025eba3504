#!/usr/bin/python3
"""Tests the packages in clients/, and the examples of docs/drivers.md and of their READMEs.

    test.py NODE_MODULES

The folder has the package pg of node-postgres.  psql connects to a server, as the drivers do, in
which the extension is installed.  The last line is "N passed, N failed"; test/run.sh runs this.
"""

import itertools
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from datetime import date, datetime, timezone
from decimal import Decimal
from ipaddress import ip_address
from pathlib import Path
from uuid import UUID

sys.dont_write_bytecode = True

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / 'test' / 'format'))

import compare
from compare import BULK, GOLDEN, KEYS, same_key_type, sql, test

from pgcuckoo import CuckooFilter, FormatError, KeyValueError, hash_key
from pgcuckoo.keys import ALIASES, NAMES

PYTHON, JAVASCRIPT = ROOT / 'clients' / 'python', ROOT / 'clients' / 'javascript'
JDBC = Path('/usr/share/java/postgresql.jar')

work = Path(tempfile.mkdtemp())


def run(*command, **options):
    """A command's exit status and what it prints."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, **options)
    return done.returncode, done.stdout


def environment(**more):
    return dict(os.environ, **{name: str(value) for name, value in more.items()})


# --------------------------------------------------------- the packages alone

def test_packages():
    # setuptools builds in the folder that it is given.
    shutil.copytree(PYTHON, work / 'python')
    command = re.search('^pip (install --no-build-isolation .*)$', (PYTHON / 'README.md').read_text('utf-8'), re.M)
    status, output = run('/usr/bin/python3', '-m', 'pip', *command[1].split(), '--quiet', '--no-index',
                         '--target', work / 'installed', cwd=work / 'python')
    test(status == 0, 'pip installs the package in Python without a registry, as its README says', output)
    # As a user has it: what was installed, not the folder
    status, output = run('/usr/bin/python3', '-B', '-m', 'unittest', 'discover', '-s', PYTHON / 'tests',
                         env=environment(PYTHONPATH=work / 'installed'))
    test(status == 0 and re.search('^Ran [1-9]', output, re.M), 'its tests', output)
    status, output = run('/usr/bin/mypy', '--strict', '--cache-dir', work / 'mypy', PYTHON / 'src' / 'pgcuckoo')
    test(status == 0, 'mypy --strict', output)

    status, output = run('/usr/bin/node', '--test', '--test-reporter=tap',
                         JAVASCRIPT / 'test' / 'pgcuckoo.test.js')
    test(status == 0 and re.search('^# pass [1-9]', output, re.M), 'the tests of the package in JavaScript', output)
    status, output = run('/usr/bin/tsc', '--strict', '--noEmit', '--target', 'es2022', '--module', 'node16',
                         '--moduleResolution', 'node16', JAVASCRIPT / 'typecheck.ts')
    test(status == 0, 'tsc --strict', output)


# ------------------------------------------------------------ against the server

def encode(value):
    """A key as answers.js takes it."""
    if isinstance(value, int) and not isinstance(value, bool):
        return {'$int': str(value)}
    if isinstance(value, float):
        return {'$float': {'inf': 'Infinity', '-inf': '-Infinity'}.get(repr(value), repr(value))}
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, bytes):
        return '' if value == b'\0' else '\\x' + value.hex()
    if isinstance(value, (list, tuple)):
        return [encode(inside) for inside in value]
    if isinstance(value, dict):
        return {name: encode(inside) for name, inside in value.items()}
    return value


def ask(questions):
    """The answers of answers.js to dictionaries."""
    command = ['/usr/bin/node', work / 'answers.js']
    done = subprocess.run(command, input=''.join(json.dumps(question) + '\n' for question in questions),
                          stdout=subprocess.PIPE, text=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    test(done.returncode == 0 and len(answers) == len(questions), 'answers in JavaScript to %d questions' % len(questions))
    return answers


def use_database(name):
    sql('CREATE DATABASE ' + name)
    os.environ['PGDATABASE'] = name


def compare_keys():
    """Hashes and counts of keys of every type: the server's and those of the package in JavaScript."""
    compare.set_up()
    theirs, questions = [], []
    for key_type, keys in KEYS.items():
        rows = sql("SET lc_monetary = 'C'; " + ' '.join('SELECT cuckoo_hash(%s, -7);' % text for text, _ in keys))
        theirs.append({'hashes': [str(int(row[0]) % 2**64) for row in rows]})
        questions.append({'keyType': key_type, 'keys': encode([key for _, key in keys]), 'seed': encode(-7)})
        keys = same_key_type(key_type, keys)
        rows = sql("SET lc_monetary = 'C'; CREATE TEMP TABLE t AS SELECT cuckoo_new(seed => 9)%s AS f; "
                   "SELECT encode(f::bytea, 'hex') FROM t; %s" % (
                       ''.join(' + %s' % text for text, _ in keys[::2]),
                       ' '.join('SELECT cuckoo_count(f, %s) FROM t;' % text for text, _ in keys)))
        theirs.append({'counts': [int(row[0]) for row in rows[1:]]})
        questions.append({'filter': rows[0][0], 'keyType': key_type, 'keys': encode([key for _, key in keys])})
    for question, their, mine in zip(questions, theirs, ask(questions)):
        answer, = their
        test(mine.get(answer) == their[answer], 'JavaScript: %s of %d keys of type %s' % (
            answer, len(question['keys']), question['keyType']), '%s, not %s' % (mine, their))


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


def altered_string(text, characters):
    for _ in range(random.randint(0, 2)):
        at = random.randint(0, len(text))
        text = text[:at] + random.choice([random.choice(characters), text[at:at + 2]]) + text[at + random.randint(0, 1):]
    return text


def python_hash(key_type, key):
    try:
        return str(hash_key(key_type, key))
    except KeyValueError:
        return None


def compare_strings():
    """A string is refused, or hashed as the server hashes the value of this text."""
    random.seed(3)
    cases = []
    for key_type, (good, characters) in STRINGS.items():
        strings = good + [altered_string(random.choice(good), characters) for _ in range(1000)]
        sql_type = {'integer': 'bigint', 'bit': 'varbit'}.get(key_type, key_type)
        rows = sql("SET lc_monetary = 'C'; CREATE FUNCTION pg_temp.hash(key text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN "
                   'RETURN cuckoo_hash(key::%s)::numeric; EXCEPTION WHEN OTHERS THEN RETURN NULL; END $$; '
                   "SELECT pg_temp.hash(k #>> '{}') FROM jsonb_array_elements(%s) WITH ORDINALITY AS u (k, i) ORDER BY i" % (
                       sql_type, compare.quote(json.dumps(strings)) + '::jsonb'))
        theirs = [str(int(row[0]) % 2**64) if row[0] else None for row in rows]
        cases.append((key_type, strings, theirs))
    answers = ask([{'keyType': key_type, 'keys': strings} for key_type, strings, _ in cases])
    for (key_type, strings, theirs), answer in zip(cases, answers):
        for name, mine in ('Python', [python_hash(key_type, string) for string in strings]), ('JavaScript', answer['hashes']):
            wrong = [string for string, my, their in zip(strings, mine, theirs) if my not in (None, their)]
            test(not wrong and len(theirs) == len(strings), '%s: hashes of %d strings of type %s, of which %d are taken' % (
                name, len(strings), key_type, len(strings) - mine.count(None)), repr(wrong[:9]))


def compare_names():
    """A key type may be called as a type in SQL: the same hash."""
    values = {'integer': '5', 'boolean': 'true', 'text': 'x', 'bit': '101', 'double precision': '1.5', 'numeric': '1.5',
              'time': '12:00', 'timetz': '12:00+02', 'timestamp': '2026-01-01 12:00', 'timestamptz': '2026-01-01 12:00+02',
              'inet': '10.0.0.0/8'}
    keys = {'integer': 5, 'boolean': True, 'double precision': 1.5}
    rows = sql(' '.join("SELECT cuckoo_hash('%s'::%s);" % (values[name], alias) for alias, name in ALIASES.items()))
    mine = {alias: keys.get(name, values[name]) for alias, name in ALIASES.items()}
    theirs = [str(int(row[0]) % 2**64) for row in rows]
    for name, hashes in (('Python', [str(hash_key(alias, key)) for alias, key in mine.items()]),
                         ('JavaScript', [answer['hashes'][0] for answer in ask(
                             [{'keyType': alias, 'keys': [encode(key)]} for alias, key in mine.items()])])):
        test(hashes == theirs and len(theirs) == 20, '%s: %d names of types in SQL' % (name, len(theirs)))


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


def compare_ranges():
    """A range or multirange is refused if the server refuses or alters it, and otherwise has its hash."""
    random.seed(4)
    sql(' '.join('CREATE TYPE {0}_range AS RANGE (subtype = {1}, multirange_type_name = {0}_ranges);'.format(*names)
                 for names in (('double', 'float8'), ('time', 'time'), ('date', 'date'))))
    for bound, (range_type, multirange_type, bounds) in BOUNDS.items():
        made = [[lower, upper, brackets] for lower, upper in itertools.product(bounds, bounds)
                for brackets in ('[]', '[)', '(]', '()')]
        lists = [[random.choice(made) for _ in range(random.choice((1, 2, 2, 3)))] for _ in range(1500)]
        text = [compare.quote(json.dumps([[None if end is None else str(end) for end in one] for one in some])) + '::jsonb'
                for some in (made, sum(lists, []))]
        function = ('CREATE FUNCTION pg_temp.range(parts jsonb) RETURNS {0} LANGUAGE plpgsql AS $$ BEGIN '
                    "RETURN nullif({0}((parts->>0)::{1}, (parts->>1)::{1}, parts->>2), 'empty'); "
                    'EXCEPTION WHEN data_exception THEN RETURN NULL; END $$; '.format(range_type, bound))
        rows = sql(function + 'SELECT cuckoo_hash(pg_temp.range(one)) FROM jsonb_array_elements(%s) WITH ORDINALITY AS u (one, i) '
                   'ORDER BY i' % text[0])
        numbers = [str(i) for i, some in enumerate(lists) for _ in some]
        # With NULL for a range that is none
        rows += sql(function + 'SELECT CASE WHEN array_position(r, NULL) IS NULL AND ARRAY(SELECT unnest(m)) = r THEN cuckoo_hash(m) END '
                    'FROM (SELECT n, r, %s(VARIADIC CASE WHEN array_position(r, NULL) IS NULL THEN r END) AS m FROM '
                    "(SELECT n, array_agg(pg_temp.range(one) ORDER BY i) AS r FROM jsonb_array_elements(%s) WITH ORDINALITY AS u (one, i) "
                    "JOIN unnest('{%s}'::integer[]) WITH ORDINALITY AS l (n, i) USING (i) GROUP BY n) AS lists) AS made ORDER BY n" % (
                        multirange_type, text[1], ','.join(numbers)))
        theirs = [str(int(row[0]) % 2**64) if row[0] else None for row in rows]
        kinds = [('range', bound)] * len(made) + [('multirange', bound)] * len(lists)
        python = [python_hash(kind, value) for kind, value in zip(kinds, made + lists)]
        javascript = sum((answer['hashes'] for answer in ask(
            [{'keyType': [kind, bound], 'keys': encode(some)} for kind, some in (('range', made), ('multirange', lists))])), [])
        for name, mine in ('Python', python), ('JavaScript', javascript):
            wrong = [value for value, my, their in zip(made + lists, mine, theirs) if my != their]
            taken = [sum(hash_ is not None for hash_ in some) for some in (mine[:len(made)], mine[len(made):])]
            test(not wrong and len(theirs) == len(mine) and 0 < taken[0] < len(made) and 0 < taken[1] < len(lists),
                 '%s: of %d ranges of %s, %d are taken, and %d of %d multiranges' % (
                     name, len(made), bound, taken[0], taken[1], len(lists)), repr(wrong[:5]))


def compare_driver_ranges():
    """Ranges as the drivers in Python return them."""
    import psycopg
    import psycopg2

    cases = [(('range', 'integer'), "'[1,5)'::int4range"), (('range', 'integer'), "'(,5)'::int8range"),
             (('range', 'integer'), "'empty'::int4range"), (('range', 'numeric'), "'(1.5,2]'::numrange"),
             (('range', 'date'), "'[2026-01-01,)'::daterange"), (('range', 'timestamp'), "'[2026-01-01,2026-01-02]'::tsrange")]
    multiranges = [(('multirange', 'integer'), "'{[1,3),[7,)}'::int4multirange"), (('multirange', 'integer'), "'{}'::int4multirange"),
                   (('array', ('range', 'integer')), "ARRAY['[1,5)', 'empty']::int4range[]")]
    for driver, some in (psycopg, cases + multiranges), (psycopg2, cases):
        with driver.connect('') as connection:
            cursor = connection.cursor()
            cursor.execute('SELECT ' + ', '.join('{0}, cuckoo_hash({0})'.format(expression) for _, expression in some))
            row = cursor.fetchone()
        connection.close()
        wrong = [expression for (key_type, expression), key, hash_ in zip(some, row[::2], row[1::2])
                 if hash_key(key_type, key) != hash_ % 2**64]
        test(not wrong, '%d ranges and multiranges as %s returns them' % (len(some), driver.__name__), ', '.join(wrong))


INFO = ('format_version, representation, key_type, items, capacity, target_fpr, expected_fpr, subfilters, seed, '
        'removable')


def rounded(info):
    """The same, but for the last digits of the expected rate."""
    return {name: '%.6e' % value if name == 'expected_fpr' else value
            for name, value in info.items()}


def compare_golden():
    """cuckoo_info() and counts of each golden filter: the server's and those of both packages."""
    lines = [line.split('\t') for line in (GOLDEN / 'filters.tsv').read_text('utf-8').splitlines()[1:]]
    rows = sql('CREATE TEMP TABLE g (number serial, f cuckoofilter); COPY g (f) FROM STDIN;\n' +
               ''.join(line[4] + '\n' for line in lines) + '\\.\n'
               "SELECT row_to_json(q) FROM (SELECT i.*, encode(f::bytea, 'hex') AS data, CASE WHEN "
               "i.key_type = 'integer' AND i.representation <> 'partial' THEN (SELECT array_agg(cuckoo_count(f, k) "
               'ORDER BY k) FROM generate_series(1, 300) AS k) END AS counts '
               'FROM g, LATERAL (SELECT %s FROM cuckoo_info(f)) AS i ORDER BY number) AS q' % INFO)
    keys = range(1, 301)
    theirs = [json.loads(row[0]) for row in rows]
    mine = ask([{'filter': row['data'], 'keys': list(keys) if row['counts'] else []} for row in theirs])
    for (name, *_), row, answer in zip(lines, theirs, mine):
        f = CuckooFilter(bytes.fromhex(row.pop('data')))
        counts = row.pop('counts')
        javascript = {re.sub('[A-Z]', lambda found: '_' + found[0].lower(), name): value
                      for name, value in answer['info'].items()}
        if javascript['seed'] is not None:
            javascript['seed'] = int(javascript['seed'])
        wrong = [info for info in (f.info()._asdict(), javascript) if rounded(info) != rounded(row)]
        if counts:
            wrong += [found for found in ([f.count(key) for key in keys], answer['counts']) if found != counts]
        test(not wrong, 'golden %s: info and counts' % name, '%s, not %s' % (wrong, row))


def compare_altered():
    """What the package in Python refuses, the one in JavaScript does; test/format has the server."""
    cases = compare.altered_filters()
    answers = ask([{'filter': data.hex(), 'keys': []} for data in cases])
    wrong = []
    for data, answer in zip(cases, answers):
        try:
            CuckooFilter(data)
            refused = False
        except FormatError:
            refused = True
        if ('refused' in answer) != refused:
            wrong.append(data.hex())
    good = sum('refused' not in answer for answer in answers)
    test(not wrong and 0 < good < len(cases), '%d altered filters: both packages take the same %d' % (len(cases), good),
         ' '.join(wrong[:5]))


# ------------------------------------------------------------------- builders

def key_sets():
    """(name, key type, keys, SQL that gives them as k, or of each) of the sets that filters are made of."""
    for key_type, keys in KEYS.items():
        keys = {hash_key(key_type, key): (text, key) for text, key in same_key_type(key_type, keys)}.values()
        yield str(key_type), key_type, [key for _, key in keys], [text for text, _ in keys]
    for key_type, expression, key in BULK:
        yield ('1,500 keys of type %s' % str(key_type), key_type, [key(i) for i in range(1, 1501)],
               'SELECT %s FROM generate_series(1, 1500) AS i' % expression)
    seen = set()
    for line in (GOLDEN / 'filters.tsv').read_text('utf-8').splitlines()[1:]:
        name, keys = line.split('\t')[:2]
        if keys in seen or name.startswith('type-'):
            continue                                    # The tests of the packages have those types.
        seen.add(keys)
        if name == 'partial-array':
            key_type, values = ('array', 'integer'), [[1, None, 3], [], {'bounds': [[2, -1]], 'elements': [7, 8]}]
        else:
            rows = [row[0] for row in sql(keys)]
            key_type, values = ('text', rows) if name == 'dense-text' else ('integer', [int(row) for row in rows])
        yield 'golden ' + name, key_type, values, keys


def parameters(count):
    """Capacities, rates and seeds for so many keys."""
    yield None, 0.001, 0
    for share in 0.3, 1, 1.3, 1.7, 40:
        yield (max(1, round(share * count, 2)), float('%.3g' % 10 ** random.uniform(-7.6, -1)),
               random.randrange(-2**63, 2**63))


def compare_builders():
    """The server's filters of the same keys, and those of both packages: the bytes, or else all answers."""
    random.seed(2)
    cases, load = [], ''
    for name, key_type, keys, text in key_sets():
        # The smaller ones are sparse with each of them.
        for capacity, fpr, seed in list(parameters(len(keys)))[0 if len(keys) > 99 else 4::2]:
            cases.append((name, key_type, keys, text, capacity, fpr, seed))
    for count in 0, 1, 10, 1000, 20000:
        integers = [random.randrange(-2**63, 2**63) for _ in range(count)]
        strings = [''.join(random.choices('abcäö漢 ', k=random.randrange(20))) + str(i) for i in range(count)]
        for key_type, sql_type, keys in ('integer', 'bigint', integers), ('text', 'text', strings):
            # A tenth of them twice, and NULLs
            keys = keys + random.sample(keys, count // 10) + [None] * (count // 100)
            random.shuffle(keys)
            load += 'CREATE TABLE %s_%d (k %s); COPY %s_%d FROM STDIN;\n%s\\.\n' % (
                key_type, count, sql_type, key_type, count, ''.join('%s\n' % ('\\N' if k is None else k) for k in keys))
            for capacity, fpr, seed in parameters(count):
                cases.append(('%d random keys of type %s' % (count, key_type), key_type, keys,
                              'SELECT k FROM %s_%d' % (key_type, count), capacity, fpr, seed))
    sql(load)

    questions, made_here, wrong, dense = [], [], 0, 0
    for name, key_type, keys, text, capacity, fpr, seed in cases:
        what = '%s, capacity %s, rate %g, seed %d' % (name, capacity, fpr, seed)
        arguments = '%s::float8, %r, %d' % (capacity or 'NULL', fpr, seed)
        mine = CuckooFilter.build(keys, key_type, capacity, fpr, seed)
        if isinstance(text, list):                      # One by one, because SQL has them of several types
            query = 'cuckoo_new(%s) + %s' % (arguments, ' + '.join(text))
        elif keys:
            query = 'cuckoo_agg(k, %s) FROM (%s) AS keys (k)' % (arguments, text)
        else:                                           # Over no rows, an aggregate has no parameters.
            query = "cuckoo_from_array('{}'::text[], %s)" % arguments
        rows = sql("SET lc_monetary = 'C'; CREATE TEMP TABLE t (f cuckoofilter); INSERT INTO t SELECT %s; "
                   "SELECT (cuckoo_info(f)).representation, encode(f::bytea, 'hex') FROM t" % query)
        representation, data = rows[0]
        right = mine.representation == 'sparse' and (data == mine.data.hex() if representation == 'sparse' else
                                                     same_answers(CuckooFilter(bytes.fromhex(data)), mine, keys, key_type))
        if not right or representation == 'dense':
            test(right, 'Python: %s, %s' % (representation, what))
        wrong += not right
        dense += representation == 'dense'
        questions.append({'keys': encode(keys), 'keyType': key_type, 'capacity': capacity, 'fpr': fpr, 'seed': encode(seed)})
        made_here.append({'data': mine.data.hex()})
    test(not wrong and dense > 20 and len(cases) > 2 * dense,
         'Python: %d filters, of which the server stores %d dense' % (len(cases), dense))
    differ = [name for mine, answer, (name, *_) in zip(made_here, ask(questions), cases) if answer != mine]
    test(not differ, 'JavaScript: %d filters' % len(cases), ', '.join(differ))

    # The server takes the bytes, and answers from them as the packages do.
    random_keys = next(case for case in cases if case[0].startswith('20000 random keys of type integer'))[2]
    for capacity, fpr, seed in parameters(len(random_keys)):
        f = CuckooFilter.build(random_keys, 'integer', capacity, fpr, seed)
        asked = [key for key in random_keys[:10200] if key is not None] + list(range(10000))
        rows = sql("CREATE TEMP TABLE a (f cuckoofilter); INSERT INTO a VALUES ('\\x%s'::bytea::cuckoofilter); "
                   'SELECT string_agg(cuckoo_count(f, k)::text, \'\' ORDER BY i) FROM a, unnest(\'{%s}\'::bigint[]) '
                   'WITH ORDINALITY AS u (k, i); SELECT encode(f::bytea, \'hex\') FROM a' % (
                       f.data.hex(), ','.join(map(str, asked))))
        answer, = ask([{'filter': f.data.hex(), 'keys': encode(asked)}])
        counts = [f.count(key) for key in asked]
        test(rows == [[''.join(map(str, counts))], [f.data.hex()]] and answer['counts'] == counts and
             all(counts[:10000]), 'the server answers as the packages do, at a rate of %g' % fpr)


def same_answers(one, other, keys, key_type):
    """Whether two filters give the same answers for 10,000 keys that they have and 10,000 that they do not."""
    hashes = [hash_key(key_type, key, one.seed) for key in keys[:10000] if key is not None]
    hashes += [random.randrange(2**64) for _ in range(10000)]
    return (one.info()._replace(representation=None) == other.info()._replace(representation=None) and
            all(one.count_hash(hash_) == other.count_hash(hash_) for hash_ in hashes))


def compare_errors():
    """Wrong parameters are errors with the same beginning."""
    cases = [(capacity, 0.001) for capacity in (0, 0.99, -1, 1517813761, 1e300)] + [
        (None, fpr) for fpr in (0, 1.9e-8, 0.11, 5000, -0.1)] + [(0.001, 1000), (1e9, 1e-5), (1517813760, 0.1)]
    rows = sql('CREATE FUNCTION pg_temp.message(capacity float8, fpr float8) RETURNS text LANGUAGE plpgsql AS $$ BEGIN '
               'PERFORM cuckoo_from_array(ARRAY[1], capacity, fpr); RETURN NULL; EXCEPTION WHEN OTHERS THEN RETURN SQLERRM; '
               'END $$; ' + ' '.join('SELECT pg_temp.message(%s, %r);' % ('NULL' if capacity is None else repr(capacity), fpr)
                                     for capacity, fpr in cases))
    answers = ask([{'keys': [1], 'keyType': 'integer', 'capacity': capacity, 'fpr': fpr, 'seed': 0} for capacity, fpr in cases])
    for (capacity, fpr), (message,), answer in zip(cases, rows, answers):
        try:
            CuckooFilter.build([1], 'integer', capacity, fpr)
            mine = None
        except ValueError as error:
            mine = str(error)
        test(message and mine and mine.startswith(message) and answer.get('wrong', '').startswith(message),
             'capacity %s, rate %g: %s' % (capacity, fpr, message), '%s, %s' % (mine, answer))


# ------------------------------------------------------------------- the page

class Bridge:
    """A port of 127.0.0.1 for the server's socket: JDBC knows no other."""

    def __init__(self, path):
        self.path = path
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.path)
            for source, target in (client, server), (server, client):
                threading.Thread(target=self.copy, args=(source, target), daemon=True).start()

    @staticmethod
    def copy(source, target):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


def test_page():
    page = (ROOT / 'docs' / 'drivers.md').read_text('utf-8')
    blocks = re.findall(r'^```(\w+)\n(.*?)^```\n(?:\n```\n(.*?)^```\n)?', page, re.M | re.S)
    test([language for language, *_ in blocks] == ['sql'] + 3 * ['python'] + ['js', 'java'],
         'the page has the examples that it should')
    use_database('drivers')
    sql('CREATE EXTENSION cuckoo; ' + blocks[0][1])
    for number, (language, code, shown) in enumerate(blocks[1:], 1):
        if language == 'python':
            command = ['/usr/bin/python3', '-B', work / ('%d.py' % number)]
        elif language == 'js':
            command = ['/usr/bin/node', work / ('%d.js' % number)]
        elif shutil.which('javac') and JDBC.exists():
            command = ['java', '-cp', JDBC, work / 'Drivers.java', jdbc_url()]
        else:
            print('# note: the example for JDBC was not run: no JDK is installed')
            continue
        Path(command[2 if language == 'python' else -1 if language == 'js' else 3]).write_text(code, 'utf-8')
        status, output = run(*command, cwd=work, env=environment(PYTHONPATH=work / 'installed'))
        test(status == 0 and output == shown and shown != '', 'example %d of the page, %s' % (number, language), output)
    test_parameters(page)
    test_times(page)


def jdbc_url():
    bridge = Bridge('%s/.s.PGSQL.%s' % (os.environ['PGHOST'], os.environ.get('PGPORT', 5432)))
    return 'jdbc:postgresql://127.0.0.1:%d/drivers?user=%s' % (bridge.port, os.environ['PGUSER'])


# Values of the classes that the page's table names
VALUES = {'int': [1, -2**63], 'str': ['x', '1'], 'float': [1.5, 2.0], 'Decimal': [Decimal('1.5'), Decimal('42')],
          'bool': [True], 'bytes': [b'x', b''], 'UUID': [UUID(int=1)], 'date': [date(2026, 1, 1)],
          'datetime': [datetime(2026, 1, 1), datetime(2026, 1, 1, microsecond=1)],
          'datetime with a zone': [datetime(2026, 1, 1, tzinfo=timezone.utc)],
          'ip_address': [ip_address('10.0.0.1'), ip_address('::1')]}


def test_parameters(page):
    """The key types of parameters are those of the page's table, and "cast" if some have another."""
    import psycopg
    import psycopg2

    rows = [[cell.strip().replace('`', '') for cell in line.split('|')[1:-1]]
            for line in re.findall(r'^\|.*\|$', page, re.M)]
    table = {key_type: cells for key_type, *cells in rows[2:-1]}
    query = 'SELECT (cuckoo_info(cuckoo_new() + %s)).key_type'
    for column, driver in enumerate((psycopg, psycopg2)):
        wrong = []
        for key_type, cells in table.items():
            found = []
            for value in VALUES[cells[0]]:
                connection = driver.connect('')
                cursor = connection.cursor()
                try:
                    cursor.execute(query, [value])
                    found += cursor.fetchone()
                except driver.Error:
                    found += [None]
                connection.close()
            if (cells[column] == 'cast') == (set(found) == {key_type}):
                wrong.append('%s: %s' % (key_type, found))
        test(not wrong and len(table) == 11, 'key types of parameters in %s' % driver.__name__, ', '.join(wrong))
    test([key_type for key_type, cells in table.items() if cells[2] != 'cast'] == ['text'], 'node-postgres sends text')
    if shutil.which('javac') and JDBC.exists():
        shutil.copy(Path(__file__).parent / 'KeyTypes.java', work)
        _, output = run('java', '-cp', JDBC, work / 'KeyTypes.java', jdbc_url())
        found = dict(line.split('\t') for line in output.splitlines() if '\t' in line)
        test(found == {cells[3]: key_type for key_type, cells in table.items() if cells[3] != 'cast'},
             'key types of parameters in JDBC', output)


TIMES = '''
import pg from 'pg';

const client = new pg.Client();
await client.connect();
for (const type of ['timestamp', 'timestamptz']) {
  const { rows } = await client.query(
    `SELECT k, k::text AS text FROM generate_series(1, 100) AS i, CAST('2026-01-01'::${type} + i * interval '1.000001 s' AS ${type}) AS k`);
  const lookup = `SELECT count(*) FILTER (WHERE f @> $1::${type}) AS n FROM (SELECT cuckoo_agg(k) AS f `
    + `FROM generate_series(1, 100) AS i, CAST('2026-01-01'::${type} + i * interval '1.000001 s' AS ${type}) AS k) AS s`;
  let found = 0, foundText = 0;
  for (const { k, text } of rows) {
    found += Number((await client.query(lookup, [k])).rows[0].n);
    foundText += Number((await client.query(lookup, [text])).rows[0].n);
  }
  console.log(type, found, foundText);
}
await client.end();
'''


def test_times(page):
    """node-postgres loses the microseconds of keys."""
    test('`timestamp` and `timestamptz` as `Date`, without microseconds' in ' '.join(page.split()), 'the page says so')
    (work / 'times.js').write_text(TIMES, 'utf-8')
    status, output = run('/usr/bin/node', work / 'times.js', cwd=work)
    test(output == 'timestamp 0 100\ntimestamptz 0 100\n', 'times are found if node-postgres fetches them as text', output)


def test_without_extension():
    """A server without the extension stores what the packages make."""
    import psycopg

    readme = ' '.join((ROOT / 'README.md').read_text('utf-8').split())
    test('can build filters, look keys up, and store them as `bytea`' in readme, 'the README says so')
    use_database('without')
    with psycopg.connect('') as connection:
        connection.execute('CREATE TABLE filters (f bytea)')
        connection.execute('INSERT INTO filters VALUES (%s)', [CuckooFilter.build([1, 2], 'integer').data])
        f = CuckooFilter(connection.execute('SELECT f FROM filters').fetchone()[0])
        there = connection.execute("SELECT count(*) FROM pg_extension WHERE extname = 'cuckoo'").fetchone()
    test(there == (0,) and f.contains_each([1, 2, 3]) == [True, True, False], 'a filter in a server without the extension')


def test_readme(folder, language, command):
    """The examples run, and what a comment behind an expression says is its value."""
    readme = (folder / 'README.md').read_text('utf-8')
    code = '\n'.join(re.findall(r'^```%s\n(.*?)^```' % language, readme, re.M | re.S))
    if language == 'python':
        code, values = re.subn(r'^(\S.*?) +# (True|\[.*)$', r'assert (\1) == \2', code, flags=re.M)
    else:
        code, values = re.subn(r'^(\S.*?); // (true|\[.*)$', r"(await import('node:assert')).deepEqual(\1, \2);", code, flags=re.M)
    file = work / ('readme.' + language)
    file.write_text(code, 'utf-8')
    status, output = run(*command, file, cwd=work, env=environment(PYTHONPATH=work / 'installed'))
    test(status == 0 and values == 3, 'the examples of the README in %s' % language, output)
    missing = [name for name in (*NAMES, *ALIASES) if not re.search(r'(?<!\w)%s(?!\w)' % re.escape(name), readme)]
    test(not missing, 'it names every key type', ', '.join(missing))


def main():
    # As npm would install them
    (work / 'node_modules').mkdir()
    (work / 'node_modules' / 'pgcuckoo').symlink_to(JAVASCRIPT)
    (work / 'node_modules' / 'pg').symlink_to(Path(sys.argv[1]) / 'pg')
    os.environ['NODE_PATH'] = sys.argv[1]
    (work / 'package.json').write_text('{"type": "module"}')
    shutil.copy(Path(__file__).parent / 'answers.js', work)
    test_packages()
    use_database('clients')
    compare_keys()
    compare_strings()
    compare_names()
    compare_ranges()
    compare_driver_ranges()
    compare_golden()
    compare_altered()
    compare_builders()
    compare_errors()
    test_page()
    test_readme(PYTHON, 'python', ['/usr/bin/python3', '-B'])
    test_readme(JAVASCRIPT, 'js', ['/usr/bin/node'])
    test_without_extension()
    print('%d passed, %d failed' % (compare.passed, compare.failed))
    return compare.failed > 0


if __name__ == '__main__':
    try:
        sys.exit(main())
    finally:
        shutil.rmtree(work)
