"""Tests the package in Go, by answers.go, if Go is installed; see test.py and compare.py."""

import hashlib
import os
import re
import shutil
import struct
import subprocess
from pathlib import Path

import compare
from compare import ROOT, test, work

from pgcuckoo.keys import M64
from xxhash import xxh3_64_intdigest

GO = ROOT / 'clients' / 'go'
PQ = Path('/usr/share/gocode/src/github.com/lib/pq')    # Debian's golang-github-lib-pq-dev


def go(*arguments, **options):
    """Runs a command of Go without a network, in the folder of a program that has the package."""
    env = {**os.environ, 'GOFLAGS': '-mod=mod', 'GOPROXY': 'off', 'GOTOOLCHAIN': 'local', 'GOCACHE': str(work / 'gocache')}
    done = subprocess.run(['go', *map(str, arguments)], cwd=work / 'go', env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    return done.returncode, done.stdout


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
    compare.programs['Go'] = [work / 'go' / 'answers']
    return True
