#!/usr/bin/python3
"""Tests the packages in clients/ and the examples of docs/drivers.md.

    test.py NODE_MODULES

The folder has the package pg of node-postgres.  psql connects to a server, as the drivers do, in
which the extension is installed.  The last line is "N passed, N failed"; test/run.sh runs this.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from decimal import Decimal
from pathlib import Path

sys.dont_write_bytecode = True

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / 'test' / 'format'))

import compare
from compare import GOLDEN, KEYS, same_key_type, sql, test

from pgcuckoo import CuckooFilter, FormatError, hash_key

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
    status, output = run('/usr/bin/python3', '-m', 'pip', 'install', '--quiet', '--no-index', '--no-deps',
                         '--no-build-isolation', '--target', work / 'installed', work / 'python')
    test(status == 0, 'pip installs the package in Python', output)
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
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
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
    test([language for language, *_ in blocks] == ['sql'] + 3 * ['python'] + ['js', 'java', 'python', 'js'],
         'the page has the examples that it should')
    use_database('drivers')
    sql('CREATE EXTENSION cuckoo; ' + blocks[0][1])
    for number, (language, code, shown) in enumerate(blocks[1:], 1):
        if language == 'python':
            command = ['/usr/bin/python3', '-B', work / ('%d.py' % number)]
        elif language == 'js':
            command = ['/usr/bin/node', work / ('%d.js' % number)]
        elif shutil.which('javac') and JDBC.exists():
            bridge = Bridge('%s/.s.PGSQL.%s' % (os.environ['PGHOST'], os.environ.get('PGPORT', 5432)))
            command = ['java', '-cp', JDBC, work / 'Drivers.java', 'jdbc:postgresql://127.0.0.1:%d/drivers?user=%s' % (
                bridge.port, os.environ['PGUSER'])]
        else:
            print('# note: the example for JDBC was not run: no JDK is installed')
            continue
        Path(command[2 if language == 'python' else -1 if language == 'js' else 3]).write_text(code, 'utf-8')
        status, output = run(*command, cwd=work, env=environment(PYTHONPATH=work / 'installed'))
        test(status == 0 and output == shown and shown != '', 'example %d of the page, %s' % (number, language), output)


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
    compare_golden()
    compare_altered()
    test_page()
    print('%d passed, %d failed' % (compare.passed, compare.failed))
    return compare.failed > 0


if __name__ == '__main__':
    try:
        sys.exit(main())
    finally:
        shutil.rmtree(work)
