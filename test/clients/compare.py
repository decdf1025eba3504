"""Compares the packages in clients/, which follow docs/format.md, with the server; see test.py.

What a package answers to a question is one dictionary, the same in Python (answer()) and in
JavaScript (answers.js): hashes of keys; or the bytes of a filter, what it is, and counts in it.
Answers.java and answers.go take questions in another form (line()), and only about keys that the
package in Python takes.
"""

import itertools
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from uuid import UUID

ROOT = Path(__file__).parents[2]
PYTHON, JAVASCRIPT = ROOT / 'clients' / 'python', ROOT / 'clients' / 'javascript'
GOLDEN = ROOT / 'test' / 'golden'
sys.path.insert(0, str(PYTHON / 'src'))

from keys import BOUNDS, BULK, KEYS, STRINGS, quote
from malformed import malformed, tables, write, write_partial

from pgcuckoo import CuckooFilter, FormatError, KeyValueError, hash_key
from pgcuckoo.keys import M64, NAMES, canonical_bytes, description
from pgcuckoo.tables import bits_for, first_shape, shape_for

work = Path(tempfile.mkdtemp())
passed = failed = 0
programs = {}   # By package, the command that runs Answers.java or answers.go


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
    key_type, keys, made = question.get('keyType'), question['keys'], question.get('made')
    try:
        if made:
            f = CuckooFilter.build(made['keys'], key_type, made['capacity'], made['fpr'], made['seed'])
        elif 'filter' in question:
            f = CuckooFilter(bytes.fromhex(question['filter']))
        else:
            return {'hashes': [python_hash(key_type, key, question.get('seed', 0)) for key in keys]}
    except FormatError:
        return {'refused': True}
    return {'data': f.data.hex(), 'counts': [f.count(key, key_type) for key in keys], **f.info()._asdict()}


def encode(value):
    """A question as answers.js takes it: JSON has no large integers, infinities or NaN."""
    if type(value) is int:
        return {'$int': str(value)}
    if type(value) is float:
        return {'$float': repr(value).replace('inf', 'Infinity')}
    if isinstance(value, (list, tuple)):
        return [encode(inside) for inside in value]
    if isinstance(value, dict):
        return {name: encode(inside) for name, inside in value.items()}
    return value


def rounded(answer):
    """The same, but for the last digits of the expected rate; a seed is text in JavaScript."""
    if 'seed' in answer:
        answer.update(expected_fpr='%.6e' % answer['expected_fpr'], seed=str(answer['seed']))
    return answer


def ask(questions):
    """The answers of each package: ('Python', answers) and ('JavaScript', answers)."""
    lines = ''.join(json.dumps(encode(question)) + '\n' for question in questions)
    done = subprocess.run(['/usr/bin/node', work / 'answers.js'], input=lines, stdout=subprocess.PIPE, text=True)
    javascript = [rounded(json.loads(line)) for line in done.stdout.splitlines()]
    test(done.returncode == 0 and len(javascript) == len(questions), 'JavaScript answers %d questions' % len(questions))
    return (('Python', [rounded(answer(question)) for question in questions]), ('JavaScript', javascript))


ENDS = {2**31 - 1: 'infinity', -2**31: '-infinity', 2**63 - 1: 'infinity', -2**63: '-infinity'}
LETTERS = {'integer': 'l', 'boolean': 'b', 'text': 's', 'bytea': 'x', 'double precision': 'f', 'uuid': 'u', 'date': 'd',
           'timestamp': 't', 'timestamptz': 'z'}


def field(key_type, key):
    """A key in a line: of a class of the language if it has one, otherwise canonical bytes."""
    letter = LETTERS.get(key_type) if isinstance(key_type, str) else None
    if letter == 'l':
        return ('i' if -2**31 <= key < 2**31 and key % 2 else 'l') + str(key)
    if letter == 's':
        return letter + key.encode().hex()
    if letter == 'x':
        return letter + key[2:]
    if letter == 'b':
        return letter + str(key).lower()
    if letter == 'f':
        return letter + repr(key).replace('inf', 'Infinity').replace('nan', 'NaN')
    if letter in ('d', 't', 'z'):
        return ('n' if letter == 'z' and key % 2 and key not in ENDS else letter) + ENDS.get(key, str(key))
    if letter == 'u':
        return letter + str(UUID(key))
    return 'c%s/%s' % (description(key_type, key).hex(), canonical_bytes(key_type, key).hex())


def line(question):
    """A question in fields separated by tabs; None if the package in Python refuses a key."""
    key_type, made = question.get('keyType'), question.get('made')
    if made:
        first = ['build', math.ceil(made['capacity'] or 0), repr(made['fpr']), made['seed'],
                 ' '.join(field(key_type, key) for key in made['keys'])]
    elif 'filter' in question:
        first = ['filter', question['filter'], max(NAMES), '', '']
    else:
        first = ['hashes', '', '', question.get('seed', 0), '']
    try:
        return '\t'.join([*map(str, first), *(field(key_type, key) for key in question['keys'])]) + '\n'
    except KeyValueError:
        return None


def as_answered(answer):
    """An answer to a line as the other packages give it."""
    if 'seed' in answer:
        unset = answer['target_fpr'] == 0
        answer.update(key_type=NAMES[answer['key_type']] if answer['key_type'] else None, capacity=answer['capacity'] or None,
                      target_fpr=None if unset else answer['target_fpr'], seed=None if unset else answer['seed'])
    return rounded(answer)


def ask_programs(questions):
    """The same as ask() of the programs; None for questions that they cannot be asked."""
    lines = [line(question) for question in questions]
    asked = list(filter(None, lines))
    for package, command in programs.items() if asked else ():
        done = subprocess.run(command, input=''.join(asked), stdout=subprocess.PIPE, text=True)
        answers = [as_answered(json.loads(one)) for one in done.stdout.splitlines()]
        test(done.returncode == 0 and len(answers) == len(asked), '%s answers %d questions' % (package, len(asked)))
        left = iter(answers)
        yield package, [next(left, None) if one else None for one in lines]


LACKING = {'Go': {'representation', 'format_version'}}


def compare(name, cases):
    """The packages answer as the server does.  A case is a name, a question, and what the server says of it."""
    questions = [question for _, question, _ in cases]
    for package, answers in (*ask(questions), *ask_programs(questions)):
        compared = [(one, theirs, mine) for (one, _, theirs), mine in zip(cases, answers) if mine]
        wrong = []
        for one, theirs, mine in compared:
            theirs = {field: theirs[field] for field in theirs.keys() - LACKING.get(package, set())}
            mine = {field: mine.get(field) for field in theirs}
            if mine != theirs:
                wrong.append('%s: %s, not %s' % (one, str(mine)[:500], str(theirs)[:500]))
        test(not wrong, '%s: %d %s' % (package, len(compared), name), '\n#   '.join(wrong[:9]))


# ----------------------------------------------------------------------- keys

def compare_keys():
    """Keys have the same hashes, and filters of a single one the same bytes, with its signature."""
    cases = []
    for key_type, keys in KEYS.items():
        rows = sql(' '.join("SELECT cuckoo_hash({0}, -7), encode((cuckoo_new(seed => 5) + {0})::bytea, 'hex');".format(text)
                            for text, _ in keys))
        for (text, key), hash_, (_, data) in zip(keys, unsigned(rows), rows):
            question = {'keyType': key_type, 'keys': [key]}
            made = dict(keys=[key], capacity=None, fpr=0.001, seed=5)
            cases += [(text, {**question, 'seed': -7}, {'hashes': [hash_]}),
                      (text, {**question, 'made': made}, {'data': data, 'counts': [1]})]
    compare('hashes and filters of keys of every type', cases)


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
    cases = []
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
            theirs, hashes = hashes[:len(some)], hashes[len(some):]
            test(0 < theirs.count(None) < len(some), 'some values of %s of %s are none' % (kind, bound))
            cases.append(((kind, bound), {'keyType': (kind, bound), 'keys': some}, {'hashes': theirs}))
    compare('lists of ranges or multiranges', cases)


# -------------------------------------------------------------------- filters

def filters():
    """Filters that the server makes: name, SQL, keys to look up (of BULK, and for which i), and what a package makes it of."""
    integers = BULK[0]
    yield 'unset', 'SELECT cuckoo_agg(i) AS f FROM generate_series(1, 0) AS i', integers, range(1, 10), None
    yield 'empty', 'SELECT cuckoo_new(1e6, 0.05, -1) AS f', integers, range(1, 10), None
    yield 'emptied', 'SELECT cuckoo_new(seed => 5) + 1 - 1 AS f', integers, range(1, 10), None
    random.seed(2)
    for keys in BULK:
        for count in (10, 1500, 20000) if keys == integers else (1500,):
            parameters = [(None, 0.001, 0)]
            for share in (0.3, 1.0, 1.3, 1.7, 40.0) if keys == integers else (0.8, 1.7):
                parameters.append((max(1.0, round(share * count, 2)), float('%.3g' % 10 ** random.uniform(-7.6, -1)),
                                   random.randrange(-2**63, 2**63)))
            for capacity, fpr, seed in parameters:
                name = '%d keys of type %s, %s, %r, %d' % (count, keys[0], capacity, fpr, seed)
                query = 'SELECT cuckoo_agg(%s, %s::float8, %r, %d) AS f FROM generate_series(1, %d) AS i' % (
                    keys[1], capacity or 'NULL', fpr, seed, count)
                made = dict(keys=[keys[2](i) for i in range(1, count + 1)], capacity=capacity, fpr=fpr, seed=seed)
                yield name, query, keys, range(1, 2 * count, 1 + count // 5000), made
    for name, count, capacity in ('dense', 300000, 'NULL'), ('sparse', 100000, '1e7'):
        yield ('several %s blocks' % name, 'SELECT cuckoo_agg(i, %s, 0.01) AS f FROM generate_series(1, %d) AS i' % (capacity, count),
               integers, range(count - 5000, count + 5000), None)
    # That have grown: tables of 32 bits, and after one of unknown capacity
    for new, count in (('cuckoo_new(40, 0.1)', 20000), ('cuckoo_new(1000, 0.01, 77)', 20000), ('cuckoo_new(100, 2e-8)', 5000),
                       ('cuckoo_new(fpr => 0.1, seed => 5)', 30000)):
        yield ('grown ' + new, 'SELECT cuckoo_add_all(%s, array_agg(i)) AS f FROM generate_series(1, %d) AS i' % (new, count),
               integers, range(1, 2 * count, 1 + count // 5000), None)
    # Sparse tables that the server would store dense
    for fpr in 0.1, 0.001, 2e-8:
        f = CuckooFilter.build(range(1, 20001), 'integer', None, fpr)
        yield 'of Python, %r' % fpr, r"SELECT '\x%s'::bytea::cuckoofilter AS f" % f.data.hex(), integers, range(1, 40000, 5), None


def capacity_of(shape):
    """The number of keys for which PostgreSQL uses a shape."""
    return 193 * shape.entries // 200 if shape.all_buckets >= 2592 else 383 * shape.entries // 400


def next_shape(f, newest):
    """The shape that a filter with a small specified capacity grows by."""
    asked = bits_for(f.target_fpr)
    return shape_for(32 * capacity_of(newest), min(32, asked + 8, max(asked + 2, newest.bits + 1)))


def compare_filters():
    """Both packages read the server's filters as it does, and make the same of the same keys."""
    cases, dense = [], 0
    for name, query, (key_type, expression, value), lookups, made in filters():
        (data, info), *tables, (counts, found) = sql(
            "CREATE TEMP TABLE t AS %s; SELECT encode(f::bytea, 'hex'), row_to_json(i) FROM t, cuckoo_info(f) AS i; "
            'SELECT number, items, capacity, blocks, buckets, fingerprint_bits, bytes, representation, expected_fpr FROM t, cuckoo_subfilters(f); '
            "SELECT string_agg(cuckoo_count(f, k)::text, ''), string_agg((f @> k)::integer::text, '') "
            'FROM t, (SELECT %s FROM generate_series(%d, %d, %d) AS i) AS q (k)' % (
                query, expression, lookups.start, lookups.stop - 1, lookups.step))
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
        theirs = rounded({'counts': list(map(int, counts)), **{field: info[field] for field in f.info()._fields}})
        question = {'keyType': key_type, 'keys': [value(i) for i in lookups]}
        cases.append((name, {**question, 'filter': data}, theirs))
        if made:
            # The packages make no dense tables.
            theirs = {**theirs, 'data': data} if f.representation == 'sparse' else {**theirs, 'representation': 'sparse'}
            cases.append(('made: ' + name, {**question, 'made': made}, theirs))
            dense += f.representation == 'dense'
    test(dense > 20, 'the server stores %d of the filters dense' % dense)
    compare('filters: what they are, and counts', cases)


# ------------------------------------------------------------------ bad bytes

def altered_filters():
    """Small filters, and copies of them with bytes or bits changed, most of which are malformed."""
    random.seed(1)
    golden = dict(line.split('\t')[::4] for line in (GOLDEN / 'filters.tsv').read_text('utf-8').splitlines())
    start = [CuckooFilter.from_text(golden[name]).data for name in (
        'unset', 'empty', 'one', 'type-array-text', 'type-composite', 'dense-7', 'dense-11', 'sparse-7', 'sparse-crowded', 'union',
        'grown-2', 'written-mixed', 'partial-array', 'partial-empty')]
    cases = set(start) | set(malformed.values())
    # Empty tables of the same size in every order, and the same table twice.
    empty = tables((1, 6, 9), (2, 4, 6), (1, 8, 7), (2, 4, 7))
    cases.update(write(some, None) for some in itertools.product(empty, repeat=3))
    cases.update(write_partial(hashes) for hashes in ([], [1], [1, 1], [1, 2]))
    for data in start:
        cases.update(data[:length] for length in range(len(data)))
        cases.update((data + b'\0', data + bytes(8)))
        for at in range(len(data)):
            values = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 15, 16, 23, 24, 27, 28, 32, 33, 63, 127, 128, 255}
            values.update(data[at] ^ 1 << bit for bit in range(8))
            values.update((data[at] + more) % 256 for more in (-1, 1))
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
    rows = sql(try_function('boolean', 'arg::bytea::cuckoofilter IS NULL', "SQLSTATE IN ('22P03', '0A000')") +
               'CREATE TEMP TABLE c (i integer, data text); COPY c FROM STDIN;\n' +
               ''.join('%d\t\\\\x%s\n' % (i, data.hex()) for i, data in enumerate(cases)) +
               '\\.\nSELECT pg_temp.try(data) FROM c ORDER BY i')
    test(len(rows) == len(cases) and ['t'] in rows and ['f'] in rows, 'the server takes %d altered filters' % rows.count(['f']))
    compare('altered filters', [(data.hex(), {'filter': data.hex(), 'keys': []}, {'refused': True} if row == ['t'] else {'data': data.hex()})
                                for data, row in zip(cases, rows)])


def compare_many():
    """Many keys of each type: a filter of the server in each program, and one of the program in the server."""
    count = int(os.environ.get('CUCKOO_CLIENT_KEYS', 10000))
    for key_type, expression, value in BULK if programs else []:
        expression = expression.replace('smallint', 'integer')
        keys = [value(i) for i in range(1, 2 * count + 1)]
        looked_up = "SELECT string_agg(cuckoo_count(f, k)::text, '' ORDER BY i) FROM t, (SELECT i, %s FROM generate_series(1, %d) AS i) AS q (i, k)" % (
            expression, 2 * count)
        (data,), (counts,) = sql("CREATE TEMP TABLE t AS SELECT cuckoo_agg(%s, %d) AS f FROM generate_series(1, %d) AS i; "
                                 "SELECT encode(f::bytea, 'hex') FROM t; %s" % (expression, count, count, looked_up))
        made = dict(keys=keys[:count], capacity=count, fpr=0.001, seed=0)
        for package, (theirs, mine) in ask_programs([{'keyType': key_type, 'keys': keys, 'filter': data},
                                                     {'keyType': key_type, 'keys': [], 'made': made}]):
            test(theirs['counts'] == list(map(int, counts)), '%d keys of type %s in %s, in a filter of the server' % (2 * count, key_type, package))
            (found,), = sql("CREATE TEMP TABLE h (d text); COPY h FROM STDIN;\n%s\n\\.\n"
                            "CREATE TEMP TABLE t AS SELECT decode(d, 'hex')::cuckoofilter AS f FROM h; %s" % (mine['data'], looked_up))
            test(found == counts, '%d keys of type %s in the server, in a filter of %s' % (2 * count, key_type, package))


def compare_all():
    sql("CREATE EXTENSION cuckoo; CREATE TYPE mood AS ENUM ('sad', 'fröhlich'); "
        'CREATE TYPE pair AS (a integer, b mood); CREATE TYPE plain_range AS RANGE (subtype = integer);')
    compare_keys()
    compare_strings()
    compare_ranges()
    compare_filters()
    compare_malformed()
    compare_many()
