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
from uuid import UUID

import psycopg
import psycopg2

sys.dont_write_bytecode = True

import compare
import java
from compare import JAVASCRIPT, PYTHON, ROOT, sql, test, work
from page import examples

from pgcuckoo import hash_key
from pgcuckoo.keys import ALIASES, NAMES

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
    """The exit status and output of code in a language, with the packages installed."""
    file = work / ('Example.' + language)
    file.write_text(code, 'utf-8')
    if language == 'java':
        return run_java(file)
    return run(*INTERPRETERS[language], file, cwd=work, env=environment(PYTHONPATH=work / 'installed'))


def test_page():
    page = (ROOT / 'docs' / 'drivers.md').read_text('utf-8')
    blocks = re.findall(r'^```(\w+)\n(.*?)^```\n(?:\n```\n(.*?)^```\n)?', page, re.M | re.S)
    test([language for language, *_ in blocks] == ['sql'] + 3 * ['python'] + ['js', 'java'],
         'the page has the examples that it should')
    use_database('drivers')
    sql('CREATE EXTENSION cuckoo; ' + blocks[0][1])
    for number, (language, code, shown) in enumerate(blocks[1:], 1):
        if language == 'java' and not HAS_JAVA:
            print('# note: the example for JDBC was not run: no JDK is installed')
            continue
        status, output = run_example(language, code)
        test(status == 0 and output == shown and shown != '', 'example %d of the page, %s' % (number, language), output)
    test_parameters(page)


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


def test_parameters(page):
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
    test([key_type for key_type, cells in table.items() if cells[2] != 'cast'] == ['text'], 'node-postgres sends text')
    if HAS_JAVA:
        _, output = run_java(Path(__file__).parent / 'KeyTypes.java')
        found = dict(line.split('\t') for line in output.splitlines() if '\t' in line)
        test(found == {cells[3]: key_type for key_type, cells in table.items() if cells[3] != 'cast'},
             'key types of parameters in JDBC', output)


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
    missing = [name for name in (*NAMES, *ALIASES) if not re.search(r'(?<!\w)%s(?!\w)' % re.escape(name), readme)]
    if language != 'java':
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
    test_java()
    use_database('clients')
    compare.compare_all()
    for right, example in examples():
        test(right, example)
    test_page()
    test_ranges()
    test_readme(PYTHON, 'python')
    test_readme(JAVASCRIPT, 'js')
    if HAS_JAVA and java.HAS_JDK:
        test_readme(java.JAVA, 'java')
    return compare.failed > 0


if __name__ == '__main__':
    try:
        sys.exit(main())
    finally:
        shutil.rmtree(work)
