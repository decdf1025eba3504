"""Tests the library in Java; see test.py.  Does nothing if no JDK is installed."""

import re
import shutil
import subprocess
from pathlib import Path

from compare import ROOT

from xxhash import xxh3_64_intdigest

JAVA = ROOT / 'clients' / 'java'
JARS = Path('/usr/share/java')
JUNIT = [JARS / (name + '.jar') for name in (
    'junit-jupiter-api', 'junit-jupiter-engine', 'junit-platform-commons', 'junit-platform-engine', 'junit-platform-launcher',
    'junit-platform-reporting', 'junit-platform-console', 'opentest4j', 'opentest4j-reporting-events', 'apiguardian-api', 'picocli')]
HAS_JDK = bool(shutil.which('javac')) and JUNIT[0].exists()

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
