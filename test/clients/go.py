"""Tests the package in Go, by answers.go, if Go is installed; see test.py and compare.py."""

import hashlib
import json
import math
import os
import re
import shutil
import struct
import subprocess
from pathlib import Path

import compare
from compare import ROOT, sql, test, work

from pgcuckoo import KeyValueError
from pgcuckoo.keys import M64, NAMES, canonical_bytes, description
from xxhash import xxh3_64_intdigest

GO = ROOT / 'clients' / 'go'
PQ = Path('/usr/share/gocode/src/github.com/lib/pq')    # Debian's golang-github-lib-pq-dev
KEYS = int(os.environ.get('CUCKOO_CLIENT_KEYS', 10000))

# Keys of answers.go in SQL
BULK = {
    'integer': 'i * 1000003::bigint', 'boolean': 'i % 2 = 1', 'text': "repeat('aä漢', i % 200) || i",
    'bytea': "substr(decode(md5(i::text), 'hex'), 1, i % 17)", 'uuid': 'md5(i::text)::uuid',
    'double': 'i / 7::float8', 'real': 'i::real / 7::real', 'date': "'2000-01-01'::date + i - 50000",
    'timestamp': "'2000-01-01'::timestamp + make_interval(hours => i - 50000, secs => 1) + i * '1 microsecond'::interval",
    'timestamptz': "'2000-01-01 00:00Z'::timestamptz + make_interval(hours => i - 50000, secs => 1) + i * '1 microsecond'::interval",
    'inet': "'10.0.0.0/8'::inet + i", 'array': 'ARRAY[i, -i]'}


def go(*arguments, **options):
    """Runs a command of Go without a network, in the folder of a program that has the package."""
    env = {**os.environ, 'GOFLAGS': '-mod=mod', 'GOPROXY': 'off', 'GOTOOLCHAIN': 'local', 'GOCACHE': str(work / 'gocache')}
    done = subprocess.run(['go', *map(str, arguments)], cwd=work / 'go', env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    return done.returncode, done.stdout


def key(key_type, value):
    return [description(key_type, value).hex(), canonical_bytes(key_type, value).hex()]


def takes(question):
    """Whether the package in Python takes all keys of a question."""
    try:
        return all(key(question['keyType'], value) for value in question['keys'])
    except KeyValueError:
        return False


def encode(question):
    """A question as answers.go takes it: with canonical bytes, which the package in Python makes."""
    key_type, made = question.get('keyType'), question.get('made')
    question = {**question, 'keys': [key(key_type, value) for value in question['keys']]}
    if made:
        question['made'] = {**made, 'keys': [key(key_type, value) for value in made['keys']],
                            'capacity': math.ceil(made['capacity'] or 0)}
    return question


def ask(questions):
    """Answers as those of the other packages, without the fields that Go does not have."""
    lines = ''.join(json.dumps(question) + '\n' for question in questions)
    done = subprocess.run([work / 'go' / 'answers', str(max(NAMES))], input=lines, stdout=subprocess.PIPE, text=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    test(done.returncode == 0 and len(answers) == len(questions), 'Go answers %d questions' % len(questions))
    for one in answers:
        if 'key_type' in one:
            unset = one['target_fpr'] == 0
            one.update(key_type=NAMES[one['key_type']] if one['key_type'] else None, capacity=one['capacity'] or None,
                       target_fpr=None if unset else one['target_fpr'], seed=None if unset else one['seed'])
    return answers


def compare_cases(name, cases):
    """The same as compare.compare."""
    cases = [(one, question, {field: value for field, value in theirs.items() if field not in ('representation', 'format_version')})
             for one, question, theirs in cases if takes(question)]
    if not cases:   # of ranges, whose questions all have some that are none
        return
    wrong = ['%s: %s, not %s' % (one, str(mine)[:500], str(theirs)[:500])
             for (one, _, theirs), mine in zip(cases, map(compare.rounded, ask([encode(question) for _, question, _ in cases])))
             if {field: mine.get(field) for field in theirs} != theirs]
    test(not wrong, 'Go: %d %s' % (len(cases), name), '\n#   '.join(wrong[:9]))


def compare_bulk():
    """Filters of many keys, which answers.go makes itself, looked up by the server and by the package."""
    for kind, expression in BULK.items():
        counts = "SELECT string_agg(cuckoo_count(f, k)::text, '') FROM t, (SELECT %s FROM generate_series(1, %d) AS i) AS q (k)" % (
            expression, 2 * KEYS)
        # As many keys as there is room for, and fewer, for which the server makes a sparse filter
        for capacity in 0, 3 * KEYS:
            (data,), (theirs,) = sql("CREATE TEMP TABLE t AS SELECT cuckoo_agg(%s, %s) AS f FROM generate_series(1, %d) AS i; "
                                     "SELECT encode(f::bytea, 'hex') FROM t; %s" % (expression, capacity or 'NULL', KEYS, counts))
            mine, = ask([{'kind': kind, 'count': KEYS, 'capacity': capacity, 'filter': data}])
            same = mine['made'] == data
            found = theirs if same else sql(r"CREATE TEMP TABLE t AS SELECT '\x%s'::bytea::cuckoofilter AS f; %s" % (mine['made'], counts))[0][0]
            test(''.join(map(str, mine['counts'])) == theirs == found and '0' not in theirs[:KEYS] and (same or not capacity),
                 'Go: %d keys of the kind %s, %s' % (KEYS, kind, 'the same bytes' if same else 'other bytes'))


def test_readme():
    """The examples run, and print what their comments say."""
    if not PQ.exists():
        print('# note: the README of the package in Go was not run: there is no %s' % PQ)
        return
    code = '\n'.join(re.findall(r'^```go\n(.*?)^```', (GO / 'README.md').read_text('utf-8'), re.M | re.S))
    imports = re.search(r'^import \(.*?^\)\n', code, re.M | re.S)
    shown = re.findall(r'^fmt\.Println\(.*\) // (.*)$', code, re.M)
    body = 'func must(err error) {\n\tif err != nil {\n\t\tpanic(err)\n\t}\n}\n\nfunc main() {\n%s}\n' % code.replace(imports[0], '')
    (work / 'go' / 'readme').mkdir()
    (work / 'go' / 'readme' / 'main.go').write_text('package main\n\n%s\n%s' % (imports[0], body), 'utf-8')
    status, output = go('run', './readme')
    test(status == 0 and output.splitlines() == shown and len(shown) > 3, 'the examples of the README in Go', output)


def test_go():
    """Adds the package to those that compare.py compares, if there is Go."""
    if not shutil.which('go'):
        print('# note: the package in Go was not run: no Go is installed')
        return False
    # A module that has the package as the README says
    (work / 'go').mkdir()
    (work / 'go' / 'go.mod').write_text(
        'module answers\n\ngo 1.19\n\nrequire (\n\tgithub.com/lib/pq v0.0.0\n\tpgcuckoo v0.0.0\n)\n\n'
        'replace (\n\tgithub.com/lib/pq => %s\n\tpgcuckoo => %s\n)\n' % (PQ, GO), 'utf-8')
    shutil.copy(ROOT / 'test' / 'clients' / 'answers.go', work / 'go')
    status, output = go('build', '-o', 'answers', 'answers.go')
    test(status == 0, 'a program builds with the package in Go', output)
    status, output = go('test', '-v', '-count=1', 'pgcuckoo')
    test(status == 0 and output.count('--- PASS: Test') > 9 and '--- PASS: Example' in output, 'the tests of the package in Go', output)
    status, output = go('vet', 'pgcuckoo', '.')
    test(status == 0, 'go vet', output)
    unformatted = subprocess.run(['gofmt', '-l', GO, work / 'go'], stdout=subprocess.PIPE, text=True)
    test((unformatted.returncode, unformatted.stdout) == (0, ''), 'gofmt', unformatted.stdout)
    digest = hashlib.sha256(b''.join(struct.pack('<Q', xxh3_64_intdigest(
        bytes((i + n) * (i + 3 * n) >> 3 & 255 for i in range(n)), n * 0x9E3779B97F4A7C15 & M64)) for n in range(2049)))
    test(digest.hexdigest() in (GO / 'pgcuckoo_test.go').read_text('utf-8'), 'its hashes of each length to 2048 are those of xxHash')
    compare.others.append(compare_cases)
    return True
