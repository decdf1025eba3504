"""Tests the library in Java; see test.py.  Does nothing if no JDK is installed."""

import json
import math
import re
import shutil
import subprocess
from pathlib import Path
from uuid import UUID

from xxhash import xxh3_64_intdigest

from pgcuckoo import KeyValueError
from pgcuckoo.keys import NAMES, canonical_bytes, description

ROOT = Path(__file__).parents[2]
JAVA = ROOT / 'clients' / 'java'
JARS = Path('/usr/share/java')
JUNIT = [JARS / (name + '.jar') for name in (
    'junit-jupiter-api', 'junit-jupiter-engine', 'junit-platform-commons', 'junit-platform-engine', 'junit-platform-launcher',
    'junit-platform-reporting', 'junit-platform-console', 'opentest4j', 'opentest4j-reporting-events', 'apiguardian-api', 'picocli')]
HAS_JDK = bool(shutil.which('javac')) and JUNIT[0].exists()

ENDS = {2**31 - 1: 'infinity', -2**31: '-infinity', 2**63 - 1: 'infinity', -2**63: '-infinity'}

# The examples of the README, in which check() compares
PROGRAM = '''import java.sql.*;
import java.util.*;
import pgcuckoo.*;

public class Example {
  static void check(Object found, String expected) {
    String text = found instanceof boolean[] all ? Arrays.toString(all) : found.toString();
    if (!text.equals(expected)) {
      throw new AssertionError(text + ", not " + expected);
    }
  }

  public static void main(String[] arguments) throws SQLException {
    Connection connection = DriverManager.getConnection(arguments[0]);
    %s
  }
}
'''


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    return done.returncode, done.stdout


def path(*entries):
    return ':'.join(map(str, entries))


def compile_all(work):
    """Compiles the library, its tests and Answers.java; returns (status, output)."""
    status, output = run('javac', '-Xlint:all', '-Werror', '-d', work / 'java', *JAVA.glob('src/main/java/**/*.java'))
    if status == 0:
        status, output = run('javac', '-Xlint:all,-path,-classfile', '-cp', path(work / 'java', *JUNIT), '-d', work / 'java_tests',
                             *JAVA.glob('src/test/java/**/*.java'), Path(__file__).parent / 'Answers.java')
    return status, output


def junit(work):
    return run('java', '-Dgolden=%s' % (ROOT / 'test' / 'golden'), '-cp', path(work / 'java', work / 'java_tests', *JUNIT),
               'org.junit.platform.console.ConsoleLauncher', '--select-package', 'pgcuckoo', '--disable-banner')


def hashes_of_all_lengths():
    """(what the library of xxHash computes, what the JUnit test expects)"""
    data = bytes((i * 131 + i // 256) % 256 for i in range(2048))
    result = 0
    for length in range(len(data) + 1):
        result = (result * 31 + xxh3_64_intdigest(data[:length], result)) % 2**64
    test = (JAVA / 'src/test/java/pgcuckoo/CuckooFilterTest.java').read_text('utf-8')
    return result, int(re.search('HASHES_OF_ALL_LENGTHS = 0x([0-9a-f]+)L', test)[1], 16)


def field(key_type, key):
    """A key as Answers.java takes it: of a class of Java if it has one, otherwise canonical bytes."""
    letter = {'integer': 'l', 'boolean': 'b', 'text': 's', 'bytea': 'x', 'double precision': 'f', 'uuid': 'u', 'date': 'd',
              'timestamp': 't', 'timestamptz': 'z'}.get(key_type if isinstance(key_type, str) else None)
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
    key_type, made = question.get('keyType'), question.get('made')
    keys = [field(key_type, key) for key in question['keys']]
    if made:
        first = ['build', math.ceil(made['capacity'] or 0), repr(made['fpr']), made['seed'],
                 ' '.join(field(key_type, key) for key in made['keys'])]
    elif 'filter' in question:
        first = ['filter', question['filter'], max(NAMES), '', '']
    else:
        first = ['hashes', '', '', question.get('seed', 0), '']
    return '\t'.join(map(str, first + keys)) + '\n'


def as_answered(answer):
    """An answer of Answers.java as compare.py has it of the other packages."""
    if 'seed' in answer:
        unset = answer['target_fpr'] == 0
        answer.update(key_type=NAMES[answer['key_type']] if answer['key_type'] else None, capacity=answer['capacity'] or None,
                      target_fpr=None if unset else answer['target_fpr'], seed=None if unset else answer['seed'])
    return answer


def ask(work, questions):
    """[('Java', answers)], or [] without a JDK, or if the questions are about values that a package refuses."""
    try:
        lines = ''.join(map(line, questions)) if HAS_JDK else ''
    except KeyValueError:
        return []
    if not lines:
        return []
    done = subprocess.run(['java', '-cp', path(work / 'java', work / 'java_tests'), 'Answers'],
                          input=lines, stdout=subprocess.PIPE, text=True)
    return [('Java', [as_answered(json.loads(one)) for one in done.stdout.splitlines()])]
