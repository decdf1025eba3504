#!/usr/bin/python3
"""Tests the packages in clients/, and the examples of docs/drivers.md and of their READMEs.

    test.py NODE_MODULES

The folder has the package pg of node-postgres.  psql connects to a server, as the drivers do, in
which the extension is installed.  Prints TAP; test/run.sh runs this.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from datetime import date, datetime, timezone
from decimal import Decimal
from ipaddress import ip_address
from pathlib import Path
from time import monotonic
from uuid import UUID

import psycopg
import psycopg2

sys.dont_write_bytecode = True

import compare
import go
import java
from compare import JAVASCRIPT, PYTHON, ROOT, sql, test, work
from orm import HAS_GO, HAS_RAILS, run_django, run_go, run_rails
from page import examples

from pgcuckoo import hash_key

JDBC = Path('/usr/share/java/postgresql.jar')
HAS_JAVA = shutil.which('javac') and JDBC.exists()
INTERPRETERS = {'python': ['/usr/bin/python3', '-B'], 'js': ['/usr/bin/node']}


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


def test_java():
    if not java.HAS_JDK:
        print('# note: the library in Java was not tested: no JDK is installed')
        return
    status, output = java.compile_all(work)
    test(status == 0, 'javac -Xlint:all -Werror', output)
    status, output = java.junit(work)
    test(status == 0 and re.search(r'[1-9]\d* tests successful', output), 'the tests of the library in Java', output)
    theirs, expected = java.hashes_of_all_lengths()
    test(theirs == expected, 'they expect the hashes of xxHash for all lengths')
    compare.programs['Java'] = ['java', '-cp', java.path(work / 'java', work / 'java_tests'), 'Answers']


def use_database(name):
    sql('CREATE DATABASE ' + name)
    os.environ['PGDATABASE'] = name


# ------------------------------------------------------------------- the page

def bridge(path):
    """Serves a port of 127.0.0.1 for the server's socket, which JDBC does not know; returns the port."""
    def copy(source, target):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)

    def accept():
        while True:
            client, _ = listener.accept()
            server = socket.socket(socket.AF_UNIX)
            server.connect(path)
            for ends in (client, server), (server, client):
                threading.Thread(target=copy, args=ends, daemon=True).start()

    listener = socket.create_server(('127.0.0.1', 0))
    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


def run_java(file):
    port = bridge('%s/.s.PGSQL.%s' % (os.environ['PGHOST'], os.environ.get('PGPORT', 5432)))
    return run('java', '-cp', java.path(JDBC, work / 'java'), file, 'jdbc:postgresql://127.0.0.1:%d/drivers?user=%s' % (port, os.environ['PGUSER']))


def run_example(language, code):
    """The exit status and output of code in a language, with the packages installed; None if that is not."""
    file = work / ('Example.' + language)
    file.write_text(code, 'utf-8')
    if language == 'java':
        return run_java(file) if HAS_JAVA else None
    if language == 'go':
        return run_go(code, run) if HAS_GO else None
    if language == 'ruby':
        return run_rails(code, run) if HAS_RAILS else None
    if 'django' in code:
        return run_django(code, run)
    return run(*INTERPRETERS[language], file, cwd=work, env=environment(PYTHONPATH=work / 'installed'))


def variants(page, blocks):
    """Examples of the page: language, code, output. Some have a second form, which the text before tells."""
    unique = sql("SELECT pg_indexam_has_property(oid, 'can_unique') FROM pg_am WHERE amname = 'cuckoo'") == [['t']]
    index, add_index = re.findall(r'`((?:Index|add_index)\b[^`]*)`', page)
    for language, code, shown in blocks:
        yield language, code, shown or '2\n'
        if 'lib/pq' in code:
            yield language, code.replace('lib/pq', 'jackc/pgx/v5/stdlib').replace('"postgres"', '"pgx"'), shown
        elif unique and language == 'ruby':
            yield language, re.sub('execute .*', add_index, code), '2\n'
        elif unique and 'ExcludeConstraint(' in code:
            yield language, re.sub(r'ExcludeConstraint\(.*\)\)', index + ')', code).replace(
                'import Column', 'import Column, Index'), shown


def test_page():
    page = (ROOT / 'docs' / 'drivers.md').read_text('utf-8')
    blocks = re.findall(r'^```(\w+)\n(.*?)^```\n(?:\n```\n(.*?)^```\n)?', page, re.M | re.S)
    test([language for language, *_ in blocks] == ['sql'] + 5 * ['python'] + ['ruby', 'js', 'java', 'go'],
         'the page has the examples that it should')
    use_database('drivers')
    sql('CREATE EXTENSION cuckoo_index CASCADE; ' + blocks[0][1])
    for number, (language, code, shown) in enumerate(variants(page, blocks[1:]), 1):
        ran = run_example(language, code)
        if ran:
            test(ran == (0, shown), 'example %d of the page, %s' % (number, language), ran[1])
        else:
            print('# note: example %d of docs/drivers.md was not run: nothing runs %s' % (number, language))
        sql("DROP TABLE IF EXISTS pages; DELETE FROM filters WHERE name NOT IN ('id', 'email')")
    sql('CREATE TABLE pages (url text); INSERT INTO pages SELECT md5(i::text) FROM generate_series(1, 20000) AS i; '
        'CREATE INDEX ON pages USING cuckoo (url); VACUUM ANALYZE pages')
    java = run_java(Path(__file__).parent / 'KeyTypes.java')[1] if HAS_JAVA else ''
    test_parameters(page, java)
    test_plans(page, java)


def generic_run(prepare):
    """At which run the server's plan does not know the parameter, in psycopg, with its own or given choice to prepare."""
    with psycopg.connect('') as connection:
        for run in range(1, 20):
            connection.execute('SELECT FROM pages WHERE url = ANY (%s)', [['x'] * 1000], prepare=prepare)
            if connection.execute("SELECT max(generic_plans) FROM pg_prepared_statements WHERE statement ~ '= A[N]Y'").fetchone()[0]:
                return run


def time_of(condition, mode):
    """How long 3,000 keys take: the median of five."""
    with psycopg.connect('', options='-c plan_cache_mode=' + mode) as connection:
        keys, times = [url for url, in connection.execute('SELECT url FROM pages LIMIT 3000')], []
        for _ in range(5):
            start = monotonic()
            connection.execute('SELECT count(*) FROM pages WHERE ' + condition, [keys], prepare=True)
            times.append(monotonic() - start)
    return sorted(times)[2]


def test_plans(page, java):
    """When = ANY becomes slow, because the plan does not know the keys, and that a sub-select does not."""
    numbers = {'sixth': 6, 'tenth': 10, 'eleventh': 11}
    said = [numbers[word] for word in re.findall(r'at\sthe\s(\w+th)\s', page)]
    found = [generic_run(True), 10, generic_run(None)]
    if HAS_JAVA:
        found[1] = int(java.split()[-1])
    test(found == said, 'runs until = ANY becomes slow', str(found))
    if HAS_GO:
        _, output = run_go((Path(__file__).parent / 'plans.go').read_text(), run)
        test(re.fullmatch('6 <nil>\n.*(cannot convert|unable to encode) 42 .*\n', output), 'the same in pgx, and its error without a cast', output)
    many, one_by_one, select = (time_of(*how) for how in (
        ('url = ANY (%s)', 'force_custom_plan'), ('url = ANY (%s)', 'force_generic_plan'),
        (re.search(r'`(url\sIN\s[^`]*)`', page)[1].replace('$1', '%s'), 'force_generic_plan')))
    test(one_by_one > 3 * many and one_by_one > 3 * select, 'it becomes slow, and its replacement does not',
         '%s, %s, %s' % (many, one_by_one, select))


# Values of the classes that the page's table names
VALUES = {'int': [1, -2**63], 'str': ['x', '1'], 'float': [1.5, 2.0], 'Decimal': [Decimal('1.5'), Decimal('42')],
          'bool': [True], 'bytes': [b'x', b''], 'UUID': [UUID(int=1)], 'date': [date(2026, 1, 1)],
          'datetime': [datetime(2026, 1, 1), datetime(2026, 1, 1, microsecond=1)],
          'datetime with a zone': [datetime(2026, 1, 1, tzinfo=timezone.utc)],
          'ip_address': [ip_address('10.0.0.1'), ip_address('::1')]}


def key_type_of(driver, value):
    """The key type of a parameter in SQL, or None if it has none."""
    connection = driver.connect('')
    cursor = connection.cursor()
    try:
        cursor.execute('SELECT (cuckoo_info(cuckoo_new() + %s)).key_type', [value])
        return cursor.fetchone()[0]
    except driver.Error:
        return None
    finally:
        connection.close()


def test_parameters(page, java):
    """The key types of parameters are those of the page's table, and "cast" if some have another."""
    rows = [[cell.strip().replace('`', '') for cell in line.split('|')[1:-1]]
            for line in re.findall(r'^\|.*\|$', page, re.M)]
    table = {key_type: cells for key_type, *cells in rows[2:-1]}
    for column, driver in enumerate((psycopg, psycopg2)):
        wrong = []
        for key_type, cells in table.items():
            found = {key_type_of(driver, value) for value in VALUES[cells[0]]}
            if (cells[column] == 'cast') == (found == {key_type}):
                wrong.append('%s: %s' % (key_type, found))
        test(not wrong and len(table) == 11, 'key types of parameters in %s' % driver.__name__, ', '.join(wrong))
    if HAS_JAVA:
        found = dict(line.split('\t') for line in java.splitlines() if '\t' in line)
        test(found == {cells[2]: key_type for key_type, cells in table.items() if cells[2] != 'cast'},
             'key types of parameters in JDBC', java)


def test_ranges():
    """Ranges as the drivers in Python return them."""
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


def test_readme(folder, language):
    """The examples run, and what a comment behind an expression says is its value."""
    readme = (folder / 'README.md').read_text('utf-8')
    code = '\n'.join(re.findall(r'^```%s\n(.*?)^```' % language, readme, re.M | re.S))
    if language == 'java':
        code, values = re.subn(r'^(\S.*); // (true|\[.*|7)$', r'check(\1, "\2");', code, flags=re.M)
        code = java.PROGRAM % code.replace('\n', '\n    ')
    elif language == 'python':
        code, values = re.subn(r'^(\S.*?) +# (True|\[.*)$', r'assert (\1) == \2', code, flags=re.M)
    else:
        code, values = re.subn(r'^(\S.*?); // (true|\[.*)$', r"(await import('node:assert')).deepEqual(\1, \2);", code, flags=re.M)
    status, output = run_example(language, code)
    test(status == 0 and values == 3, 'the examples of the README in %s' % language, output)


def main():
    # As npm would install them
    (work / 'node_modules').mkdir()
    (work / 'node_modules' / 'pgcuckoo').symlink_to(JAVASCRIPT)
    (work / 'node_modules' / 'pg').symlink_to(Path(sys.argv[1]) / 'pg')
    os.environ['NODE_PATH'] = sys.argv[1]
    (work / 'package.json').write_text('{"type": "module"}')
    shutil.copy(Path(__file__).parent / 'answers.js', work)
    test_packages()
    has_go = go.test_go()
    test_java()
    use_database('clients')
    compare.compare_all()
    for right, example in examples():
        test(right, example)
    test_page()
    test_ranges()
    test_readme(PYTHON, 'python')
    test_readme(JAVASCRIPT, 'js')
    if has_go:
        go.test_readme()
    if HAS_JAVA and java.HAS_JDK:
        test_readme(java.JAVA, 'java')
    return compare.failed > 0


if __name__ == '__main__':
    try:
        sys.exit(main())
    finally:
        shutil.rmtree(work)
