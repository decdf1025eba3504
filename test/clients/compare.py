"""Compares the packages in clients/, which follow docs/format.md, with the server; see test.py.

What a package answers to a question is one dictionary, the same in Python (answer()) and in
JavaScript (answers.js): hashes of keys; what a filter is, and counts in it; or the bytes of a
filter made of keys.
"""

import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from base64 import b64encode
from decimal import Decimal
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYTHON, JAVASCRIPT = ROOT / 'clients' / 'python', ROOT / 'clients' / 'javascript'
GOLDEN = ROOT / 'test' / 'golden'
sys.path.insert(0, str(PYTHON / 'src'))

from keys import BOUNDS, BULK, KEYS, STRINGS, quote
from malformed import make_dense, make_sparse, malformed, write, write_partial

from pgcuckoo import CuckooFilter, FormatError, KeyValueError, hash_key
from pgcuckoo.filter import DIRECTORY_BYTES, HEADER_BYTES, UNSET_FILTER
from pgcuckoo.keys import ALIASES, M64, signature
from pgcuckoo.tables import Shape, bits_for, first_shape, shape_for

work = Path(tempfile.mkdtemp())
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
SETTINGS = '-c intervalstyle=postgres -c extra_float_digits=1 -c lc_monetary=C -c timezone=Asia/Kathmandu'


def sql(command):
    """Runs SQL in a session of its own; returns the rows, as lists of text."""
    run = subprocess.run(['psql', '-XqAt', '-F', '\t', '-v', 'ON_ERROR_STOP=1'],
                         env={**os.environ, 'PGOPTIONS': SETTINGS}, input=command, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if run.returncode != 0:
        sys.exit('psql failed:\n%s\n%s' % (command[:2000], run.stdout))
    return [line.split('\t') for line in run.stdout.splitlines()]


def try_function(result, expression, otherwise='NULL'):
    """SQL that creates pg_temp.try(arg text): an expression of arg, or something else if it is an error."""
    return ('CREATE FUNCTION pg_temp.try(arg text) RETURNS %s LANGUAGE plpgsql AS $$ BEGIN RETURN %s; '
            'EXCEPTION WHEN OTHERS THEN RETURN %s; END $$; ' % (result, expression, otherwise))


def unsigned(rows):
    """The server's hashes as the packages give them: text of 64 bits, or None."""
    return [str(int(row[0]) & M64) if row[0] else None for row in rows]


# ------------------------------------------------------------------ questions

def python_hash(key_type, key, seed=0):
    try:
        return str(hash_key(key_type, key, seed))
    except KeyValueError:
        return None


def answer(question):
    """The package in Python; answers.js does the same."""
    key_type, keys, seed = question.get('keyType'), question['keys'], question.get('seed', 0)
    try:
        if 'fpr' in question:
            return {'data': CuckooFilter.build(keys, key_type, question['capacity'], question['fpr'], seed).data.hex()}
        if 'filter' not in question:
            return {'hashes': [python_hash(key_type, key, seed) for key in keys]}
        f = CuckooFilter(bytes.fromhex(question['filter']))
    except FormatError:
        return {'refused': True}
    except ValueError as error:
        return {'wrong': str(error)}
    return {'info': f.info()._asdict(), 'counts': [f.count(key, key_type) for key in keys]}


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


def rounded(answer):
    """The same, but for the last digits of the expected rate; a seed is text in JavaScript."""
    if 'info' in answer:
        info = answer['info']
        info.update(expected_fpr='%.6e' % info['expected_fpr'], seed=str(info['seed']))
    return answer


def ask(questions):
    """The answers of each package: ('Python', answers) and ('JavaScript', answers)."""
    lines = ''.join(json.dumps({**question, 'keys': encode(question['keys']), 'seed': encode(question.get('seed', 0))}) + '\n'
                    for question in questions)
    done = subprocess.run(['/usr/bin/node', work / 'answers.js'], input=lines, stdout=subprocess.PIPE, text=True)
    javascript = [rounded(json.loads(line)) for line in done.stdout.splitlines()]
    test(done.returncode == 0 and len(javascript) == len(questions), 'JavaScript answers %d questions' % len(questions))
    return (('Python', [rounded(answer(question)) for question in questions]), ('JavaScript', javascript))


def compare(name, questions, theirs, names):
    """Both packages answer as the server does."""
    for package, mine in ask(questions):
        wrong = ['%s: %s, not %s' % (one, my, their) for one, my, their in zip(names, mine, theirs) if my != their]
        test(not wrong and len(theirs) == len(mine) == len(names), '%s: %d %s' % (package, len(mine), name), '\n#   '.join(wrong[:9]))


# ----------------------------------------------------------------------- keys

def same_key_type(key_type, keys):
    """The keys with the signature of the first.  (That of arrays of records depends on values.)"""
    first = signature(key_type, keys[0][1])
    return [(text, value) for text, value in keys if signature(key_type, value) == first]


def compare_keys():
    questions, theirs = [], []
    for key_type, keys in KEYS.items():
        for seed in 0, -7:
            questions.append({'keyType': key_type, 'keys': [key for _, key in keys], 'seed': seed})
            theirs.append({'hashes': unsigned(sql(' '.join('SELECT cuckoo_hash(%s, %d);' % (text, seed) for text, _ in keys)))})
    compare('lists of keys of every type: their hashes', questions, theirs, [question['keyType'] for question in questions])

    # Signatures of every key, which may depend on values; filters of one have no answer for keys of another.
    types = []
    for key_type, keys in KEYS.items():
        if signature(key_type, keys[0][1]):
            rows = sql(' '.join("SELECT encode((cuckoo_new() + %s)::bytea, 'hex');" % text for text, _ in keys))
            test([CuckooFilter(bytes.fromhex(row[0])).signature for row in rows] == [signature(key_type, value) for _, value in keys],
                 'the signatures of %d keys of type %s' % (len(keys), str(key_type)))
            types.append(keys[0][0])
    for one, other in zip(types, types[1:] + types[:1]):
        test(sql(try_function('text', '((cuckoo_new() + %s) @> %s)::text' % (one, other), 'SQLSTATE') + "SELECT pg_temp.try('')") == [['42804']],
             'a filter of %s has no answer for %s' % (one, other))

    # A key type may be called as a type in SQL.
    values = {'integer': 5, 'boolean': True, 'text': 'x', 'bit': '101', 'double precision': 1.5, 'numeric': '1.5',
              'time': '12:00', 'timetz': '12:00+02', 'timestamp': '2026-01-01 12:00', 'timestamptz': '2026-01-01 12:00+02',
              'inet': '10.0.0.0/8'}
    rows = sql(' '.join("SELECT cuckoo_hash('%s'::%s);" % (values[name], alias) for alias, name in ALIASES.items()))
    compare('names of types in SQL', [{'keyType': alias, 'keys': [values[name]]} for alias, name in ALIASES.items()],
            [{'hashes': [hash_]} for hash_ in unsigned(rows)], ALIASES)


def altered_string(text, characters):
    for _ in range(random.randint(0, 2)):
        at = random.randint(0, len(text))
        text = text[:at] + random.choice([random.choice(characters), text[at:at + 2]]) + text[at + random.randint(0, 1):]
    return text


def compare_strings():
    """A string is refused, or hashed as the server hashes the value of this text."""
    random.seed(3)
    cases = []
    for key_type, (good, characters) in STRINGS.items():
        strings = good + [altered_string(random.choice(good), characters) for _ in range(1000)]
        sql_type = {'integer': 'bigint', 'bit': 'varbit'}.get(key_type, key_type)
        rows = sql(try_function('text', 'cuckoo_hash(arg::%s)::text' % sql_type) +
                   "SELECT pg_temp.try(k #>> '{}') FROM jsonb_array_elements(%s::jsonb) WITH ORDINALITY AS u (k, i) ORDER BY i" %
                   quote(json.dumps(strings)))
        cases.append((key_type, strings, unsigned(rows)))
    for name, answers in ask([{'keyType': key_type, 'keys': strings} for key_type, strings, _ in cases]):
        for (key_type, strings, theirs), mine in zip(cases, answers):
            wrong = [string for string, my, their in zip(strings, mine['hashes'], theirs) if my not in (None, their)]
            test(not wrong and len(theirs) == len(strings), '%s: hashes of %d strings of type %s, of which %d are taken' % (
                name, len(strings), key_type, len(strings) - mine['hashes'].count(None)), repr(wrong[:9]))


def compare_ranges():
    """A range or multirange is refused if the server refuses or alters it, and otherwise has its hash."""
    random.seed(4)
    sql(' '.join('CREATE TYPE {0}_range AS RANGE (subtype = {1}, multirange_type_name = {0}_ranges);'.format(*names)
                 for names in (('double', 'float8'), ('time', 'time'), ('date', 'date'))))
    questions, theirs = [], []
    for bound, (range_type, multirange_type, bounds) in BOUNDS.items():
        ranges = [[lower, upper, brackets] for lower, upper in itertools.product(bounds, bounds)
                  for brackets in ('[]', '[)', '(]', '()')]
        lists = [[random.choice(ranges) for _ in range(random.choice((1, 2, 2, 3)))] for _ in range(1500)]
        text = [json.dumps([[None if end is None else str(end) for end in one] for one in some]) for some in [ranges, *lists]]
        rows = sql(try_function(range_type, "nullif({0}((arg::jsonb->>0)::{1}, (arg::jsonb->>1)::{1}, arg::jsonb->>2), 'empty')".format(
            range_type, bound)) +
            'CREATE TEMP TABLE parts (n serial, part text); COPY parts (part) FROM STDIN;\n%s\n\\.\n' % '\n'.join(text) +
            'CREATE TEMP TABLE made AS SELECT n, array_agg(pg_temp.try(one::text) ORDER BY i) AS r '
            'FROM parts, jsonb_array_elements(part::jsonb) WITH ORDINALITY AS u (one, i) GROUP BY n; '
            'SELECT cuckoo_hash(one) FROM made, unnest(r) WITH ORDINALITY AS u (one, i) WHERE n = 1 ORDER BY i; '
            # Without one that is NULL, because it is none
            'SELECT CASE WHEN ARRAY(SELECT unnest(m)) = r THEN cuckoo_hash(m) END FROM made, LATERAL %s(VARIADIC '
            'CASE WHEN array_position(r, NULL) IS NULL THEN r END) AS m WHERE n > 1 ORDER BY n' % multirange_type)
        hashes = unsigned(rows)
        for kind, some in ('range', ranges), ('multirange', lists):
            questions.append({'keyType': (kind, bound), 'keys': some})
            theirs.append({'hashes': hashes[:len(some)]})
            test(0 < theirs[-1]['hashes'].count(None) < len(some), 'some values of %s of %s are none' % (kind, bound))
            del hashes[:len(some)]
    compare('lists of ranges or multiranges', questions, theirs, [question['keyType'] for question in questions])


# -------------------------------------------------------------------- filters

def integers(first, last, step=1):
    return ('integer', '(SELECT i, i AS k FROM generate_series(%d, %d, %d) AS i) AS q' % (first, last, step),
            range(first, last + 1, step))


def filters():
    """Names and SQL of filters; and keys to look up: their type, in SQL (a list, or k in the order of i), and values."""
    yield 'unset', 'SELECT cuckoo_agg(i) AS f FROM generate_series(1, 0) AS i', integers(1, 9)
    yield 'empty', 'SELECT cuckoo_new(1e6, 0.05, -1) AS f', integers(1, 9)
    yield 'emptied', 'SELECT cuckoo_new(seed => 5) + 1 - 1 AS f', integers(1, 9)
    # Of the keys of each type, every other one is in the filter.
    for key_type, keys in KEYS.items():
        keys = same_key_type(key_type, keys)
        yield ('keys of type ' + str(key_type), 'SELECT cuckoo_new(seed => 9) + %s AS f' % ' + '.join(text for text, _ in keys[::2]),
               (key_type, [text for text, _ in keys], [value for _, value in keys]))
    for key_type, expression, value in BULK:
        yield ('1,500 keys of type ' + str(key_type),
               'SELECT cuckoo_agg(%s, NULL, 0.1) AS f FROM generate_series(1, 1500) AS i' % expression,
               (key_type, '(SELECT i, %s AS k FROM generate_series(1, 3000) AS i) AS q' % expression, list(map(value, range(1, 3001)))))
    for name, count, capacity in ('dense', 300000, 'NULL'), ('sparse', 100000, '1e7'):
        yield ('several %s blocks' % name, 'SELECT cuckoo_agg(i, %s, 0.01) AS f FROM generate_series(1, %d) AS i' % (capacity, count),
               integers(count - 5000, count + 5000))
    # That have grown: tables of 32 bits, and after one of unknown capacity
    for new, keys in (('cuckoo_new(40, 0.1)', 20000), ('cuckoo_new(1000, 0.01, 77)', 20000), ('cuckoo_new(100, 2e-8)', 5000),
                      ('cuckoo_new(fpr => 0.1, seed => 5)', 30000)):
        yield ('grown ' + new, 'SELECT cuckoo_add_all(%s, array_agg(i)) AS f FROM generate_series(1, %d) AS i' % (new, keys),
               integers(1, 2 * keys, 1 + keys // 5000))
    for line in (GOLDEN / 'filters.tsv').read_text('utf-8').splitlines()[1:]:
        name, *_, text = line.split('\t')
        integer = CuckooFilter.from_text(text).key_type == 'integer' and not name.startswith('partial')
        yield 'golden ' + name, "SELECT '%s'::cuckoofilter AS f" % text, integers(1, 300) if integer else ('integer', [], [])


def capacity_of(shape):
    """The number of keys for which PostgreSQL uses a shape."""
    return 193 * shape.entries // 200 if shape.all_buckets >= 2592 else 383 * shape.entries // 400


def next_shape(f, newest):
    """The shape that a filter with a small specified capacity grows by."""
    asked = bits_for(f.target_fpr)
    return shape_for(32 * capacity_of(newest), min(32, asked + 8, max(asked + 2, newest.bits + 1)))


def compare_filters():
    """Both packages read the server's filters as it does."""
    questions, theirs, names = [], [], []
    for name, query, (key_type, keys, values) in filters():
        # Counts and answers, a digit each
        results = ['cuckoo_count(f, %s)::text', '(f @> %s)::integer::text']
        if isinstance(keys, str):
            results = ["(SELECT string_agg(%s, '' ORDER BY i) FROM %s)" % (one % 'k', keys) for one in results]
        else:
            results = ["concat('', %s)" % ', '.join([one % key for key in keys] or ["''"]) for one in results]
        (data, info, counts, found), *tables = sql(
            "CREATE TEMP TABLE t AS %s; SELECT encode(f::bytea, 'hex'), (SELECT row_to_json(i) FROM cuckoo_info(f) AS i), %s FROM t; "
            'SELECT number, items, capacity, blocks, buckets, fingerprint_bits, bytes, representation, expected_fpr FROM t, '
            "cuckoo_subfilters(CASE WHEN (cuckoo_info(f)).representation IS DISTINCT FROM 'partial' THEN f END)" % (
                query, ', '.join(results)))
        f = CuckooFilter(bytes.fromhex(data))
        mine = [[i, t.items, capacity_of(t.shape), t.shape.blocks, t.shape.buckets, t.shape.bits, t.size(), t.representation, '%.6e' % t.expected_fpr]
                for i, t in enumerate(f.subfilters, 1)]
        server = [[*map(int, row[:7]), row[7], '%.6e' % float(row[8])] for row in tables]
        test(mine == server and found == re.sub('[^0]', '1', counts), '%s: %d sub-filters' % (name, len(mine)), '%s, not %s' % (mine, server))
        for t in f.subfilters if name.startswith('grown') else []:
            wanted = first_shape(f.target_fpr, f.capacity) if t is f.subfilters[0] else next_shape(f, before)
            test(t.shape.key() == wanted.key(), 'a sub-filter of the size that docs/format.md says')
            before = t.shape
        info = json.loads(info)
        theirs.append(rounded({'info': {field: info[field] for field in f.info()._fields}, 'counts': list(map(int, counts))}))
        questions.append({'filter': data, 'keyType': key_type if values else None, 'keys': list(values)})
        names.append(name)
    compare('filters: what they are, and counts', questions, theirs, names)


# ------------------------------------------------------------------- builders

def key_sets():
    """(name, key type, keys, SQL that gives them as k, or of each) of the sets that filters are made of."""
    for key_type, keys in KEYS.items():
        keys = {hash_key(key_type, key): (text, key) for text, key in same_key_type(key_type, keys)}.values()
        yield str(key_type), key_type, [key for _, key in keys], [text for text, _ in keys]
    for key_type, expression, key in BULK:
        yield ('1,500 keys of type %s' % str(key_type), key_type, [key(i) for i in range(1, 1501)],
               'SELECT %s FROM generate_series(1, 1500) AS i' % expression)


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
        numbers = [random.randrange(-2**63, 2**63) for _ in range(count)]
        strings = [''.join(random.choices('abcäö漢 ', k=random.randrange(20))) + str(i) for i in range(count)]
        for key_type, sql_type, keys in ('integer', 'bigint', numbers), ('text', 'text', strings):
            # A tenth of them twice, and NULLs
            keys = keys + random.sample(keys, count // 10) + [None] * (count // 100)
            random.shuffle(keys)
            load += 'CREATE TABLE %s_%d (k %s); COPY %s_%d FROM STDIN;\n%s\\.\n' % (
                key_type, count, sql_type, key_type, count, ''.join('%s\n' % ('\\N' if k is None else k) for k in keys))
            for capacity, fpr, seed in parameters(count):
                cases.append(('%d random keys of type %s' % (count, key_type), key_type, keys,
                              'SELECT k FROM %s_%d' % (key_type, count), capacity, fpr, seed))
    sql(load)

    (_, python), (_, javascript) = ask([{'keys': keys, 'keyType': key_type, 'capacity': capacity, 'fpr': fpr, 'seed': seed}
                                        for _, key_type, keys, _, capacity, fpr, seed in cases])
    wrong, dense = [], 0
    for (name, key_type, keys, text, capacity, fpr, seed), mine in zip(cases, python):
        arguments = '%s::float8, %r, %d' % (capacity or 'NULL', fpr, seed)
        if isinstance(text, list):                      # One by one, because SQL has them of several types
            query = 'cuckoo_new(%s) + %s' % (arguments, ' + '.join(text))
        elif keys:
            query = 'cuckoo_agg(k, %s) FROM (%s) AS keys (k)' % (arguments, text)
        else:                                           # Over no rows, an aggregate has no parameters.
            query = "cuckoo_from_array('{}'::text[], %s)" % arguments
        (representation, theirs), = sql("CREATE TEMP TABLE t (f cuckoofilter); INSERT INTO t SELECT %s; "
                                        "SELECT (cuckoo_info(f)).representation, encode(f::bytea, 'hex') FROM t" % query)
        dense += representation == 'dense'
        if theirs != mine['data'] and (representation == 'sparse' or not same_answers(theirs, mine['data'], keys, key_type)):
            wrong.append('%s, %s, %s' % (name, representation, arguments))
    test(not wrong and dense > 20 and len(cases) > 2 * dense,
         'Python: %d filters, of which the server stores %d dense' % (len(cases), dense), '\n#   '.join(wrong))
    test(javascript == python, 'JavaScript makes the same')

    # The server takes the bytes, also of a table that it would store dense, and finds the same keys.
    for fpr in 0.1, 0.001, 2e-8:
        f = CuckooFilter.build(range(20000), 'integer', None, fpr)
        rows = sql("CREATE TEMP TABLE a (f cuckoofilter); INSERT INTO a VALUES ('\\x%s'::bytea::cuckoofilter); "
                   "SELECT string_agg(cuckoo_count(f, k)::text, '' ORDER BY k), encode(f::bytea, 'hex') FROM a, generate_series(0, 30000) AS k "
                   'GROUP BY f' % f.data.hex())
        test(rows == [[''.join(str(f.count(k)) for k in range(30001)), f.data.hex()]], 'the server answers as Python does, at a rate of %g' % fpr)


def same_answers(one, other, keys, key_type):
    """Whether two filters give the same answers for 10,000 keys that they have and 10,000 that they do not."""
    one, other = (CuckooFilter(bytes.fromhex(data)) for data in (one, other))
    hashes = [hash_key(key_type, key, one.seed) for key in keys[:10000] if key is not None]
    hashes += [random.randrange(2**64) for _ in range(10000)]
    return (one.info()._replace(representation=None) == other.info()._replace(representation=None) and
            all(one.count_hash(hash_) == other.count_hash(hash_) for hash_ in hashes))


def compare_errors():
    """Wrong parameters are errors with the same beginning."""
    cases = [(capacity, 0.001) for capacity in (0, 0.99, -1, 1517813761, 1e300)] + [
        (None, fpr) for fpr in (0, 1.9e-8, 0.11, 5000, -0.1)] + [(0.001, 1000), (1e9, 1e-5), (1517813760, 0.1)]
    rows = [sql(try_function('text', 'cuckoo_from_array(ARRAY[1], %s, %r)::text' % ('NULL' if capacity is None else repr(capacity), fpr), 'SQLERRM') +
                "SELECT pg_temp.try('')")[0][0] for capacity, fpr in cases]
    for package, answers in ask([{'keys': [1], 'keyType': 'integer', 'capacity': capacity, 'fpr': fpr} for capacity, fpr in cases]):
        wrong = [message for message, answer in zip(rows, answers) if not answer.get('wrong', '').startswith(message)]
        test(not wrong, '%s: messages about parameters' % package, '%s, not %s' % (answers, wrong))


# ------------------------------------------------------------------ bad bytes

def altered_filters():
    """Small filters, and copies of them with bytes or bits changed, most of which are malformed."""
    random.seed(1)
    hashes = [hash_key('integer', i, 1) for i in range(40)]

    def table(make, shape, count):
        shape = Shape(*shape)
        return make(shape, sorted(shape.code(hash_) for hash_ in hashes[:count]))

    start = [
        UNSET_FILTER,
        write([table(make_sparse, (1, 6, 5), 12), table(make_dense, (1, 8, 6), 9)], 'integer', 0.01, 5, 1),
        write([table(make_sparse, (1, 20, 5), 40), table(make_sparse, (2, 18, 12), 3)], 'text', 0.1),
        write([table(make_dense, (1, 2, 19), 3), table(make_dense, (1, 4, 7), 5)], ('array', 'text'), 0.02, 1, 2, 1),
        write([table(make_sparse, (1, 6, 32), 0)], None, 0.001),
        write([table(make_sparse, (1, 6, 32), 1)], ('composite', ('integer',)), 0.001),
        write([make_sparse(Shape(1, 6, 5), [9] * 8 + [11] + [40] * 7 + [63] * 2 + [95])], 'uuid', 0.1),
        write([make_dense(Shape(1, 2, 6), [0x10, 0x13, 0x20, 0x23, 0x30])], 'date', 0.1),
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
    cases.update(write(tables, None, 0.01, in_order=False) for tables in itertools.product(empty, repeat=3))
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
    """The server and both packages accept a value, or all of them refuse it."""
    shown = [line.split('\t') for line in (GOLDEN / 'malformed.tsv').read_text('utf-8').splitlines()[1:]]
    test(shown == [[name, data.hex()] for name, data in malformed.items()], 'malformed.tsv is what malformed.py makes')
    cases = altered_filters()
    rows = sql(try_function('boolean', 'arg::bytea::cuckoofilter IS NULL', 'SQLSTATE IN (\'22P03\', \'0A000\')') +
               'CREATE TEMP TABLE c (i integer, data text); COPY c FROM STDIN;\n' +
               ''.join('%d\t\\\\x%s\n' % (i, data.hex()) for i, data in enumerate(cases)) +
               '\\.\nSELECT pg_temp.try(data) FROM c ORDER BY i')
    refused = [row == ['t'] for row in rows]
    for package, answers in ask([{'filter': data.hex(), 'keys': []} for data in cases]):
        wrong = [data.hex() for data, theirs, mine in zip(cases, refused, answers) if theirs != ('refused' in mine)]
        test(not wrong and len(rows) == len(cases) and 0 < sum(refused) < len(cases),
             '%d altered filters: the server and %s take the same %d' % (len(cases), package, refused.count(False)), ' '.join(wrong[:5]))

    # Text that is not base64 in the form that the page requires
    good = b64encode(CuckooFilter.build([42, 43], 'integer', 9).data).decode()
    texts = [good, ' ' + good, good + '\n', good[:8] + '\n' + good[8:], good + ' ', good.rstrip('='),
             good[:8] + '-_' + good[10:], good[:-4], '']
    rows = sql(try_function('text', "'taken ' || left(arg::cuckoofilter::text, 0)", 'SQLSTATE') +
               ' '.join('SELECT pg_temp.try(%s);' % quote(text) for text in texts))
    mine = []
    for text in texts:
        try:
            CuckooFilter.from_text(text)
            mine.append(['taken '])
        except FormatError:
            mine.append(['22P02'])
    test(good.endswith('=') and rows == mine == [['taken ']] + 8 * [['22P02']], 'forms of text: both sides take the same', '%s, %s' % (rows, mine))


def compare_all():
    sql("CREATE EXTENSION cuckoo; CREATE TYPE mood AS ENUM ('sad', 'fröhlich'); "
        'CREATE TYPE pair AS (a integer, b mood); CREATE TYPE plain_range AS RANGE (subtype = integer);')
    compare_keys()
    compare_strings()
    compare_ranges()
    compare_filters()
    compare_builders()
    compare_errors()
    compare_malformed()
