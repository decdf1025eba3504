"""Checks docs/format.md: its examples, by the package in clients/python, and that it has the same
key types as the server and the packages; see test.py."""

import json
import re
import struct
import subprocess
from pathlib import Path

from compare import JAVASCRIPT, ROOT, capacity_of, sql
from keys import KEYS
from malformed import write_partial

import pgcuckoo.keys
from pgcuckoo import CuckooFilter, hash_key, shard
from pgcuckoo.keys import ALIASES, KEY_TYPE_FACTOR, M64, NUMBERS, SHARD_SEED, description, number_of, signature
from pgcuckoo.tables import MULTISETS, DenseTable, Shape, SparseTable, shape_for
from xxhash import xxh3_64_intdigest


def read(path):
    return (ROOT / path).read_text('utf-8')


def rows(text, heading):
    """The rows of the table whose header begins with heading, as lists of cells."""
    lines = text[text.index('\n%s' % heading) + 1:].split('\n\n')[0].splitlines()
    return [[cell.strip().strip('`') for cell in line.split(' | ')] for line in lines[2:]]


def number(cell):
    base, _, power = cell.replace(',', '').partition('^')
    return int(base) ** int(power or 1)


def check_classes(row):
    key, hash_, *numbers = row
    key_type, value = key.replace('`', '').split()
    (blocks, buckets, bits, pair, fingerprint, code, block, even, sum_, odd) = map(
        int, ', '.join(numbers).split(', '))
    shape = Shape(blocks, buckets, bits)
    key_hash = hash_key(key_type, int(value) if value.isdigit() else value)
    return (key_hash == int(hash_, 16) and shape.code(key_hash) == code and code >> bits == pair and
            shape.place(code) == (block * buckets + even, block * buckets + odd, fingerprint) and
            shape.bucket_sum(fingerprint) == sum_)


def check_bucket(row):
    bits, entries, rank, bucket = row
    table = DenseTable(Shape(1, 2, int(bits)), 0)
    table.data = int(bucket, 16).to_bytes(table.size(), 'little')
    entries = [int(entry, 16) for entry in re.findall(r'\w+', entries)]
    return table.bucket(0) == entries and MULTISETS[int(rank)] == tuple(entry & 15 for entry in entries)


def check_size(row):
    keys, blocks, buckets, most = map(number, row)
    shape = shape_for(keys, 13)
    return (shape.blocks, shape.buckets, capacity_of(shape)) == (blocks, buckets, most)


def check_signature(row):
    name, bytes_, signature_ = row
    key_type = {
        'integer[]': ('array', 'integer'), 'int4range[]': ('array', ('range', 'integer')),
        'row of integer and text': ('composite', ('integer', 'text')),
        'tstzmultirange': ('multirange', 'timestamptz'), 'a row without columns': ('composite', ()),
        'row of integer and a NULL of type `record': ('composite', ('integer', 'record')),
        'array of rows of integer and integer[]': (
            'array', ('composite', ('integer', ('array', 'integer'))))}[name]
    return description(key_type).hex(' ') == bytes_ and signature(key_type) == int(signature_, 16)


def check_key_types(page):
    """Pairs: whether a place has all key types, and its name."""
    found = [pair for row in rows(page, 'key type (SQL types)') for pair in re.findall(r'(?:^|, )(\d+) ([\w"]+(?: \w+)*)', row[0])]
    found += re.findall(r'^\*\*(\d+) (\w+)\*\*', page, re.M)
    yield {name: int(number) for number, name in found} == NUMBERS and len(found) == len(NUMBERS), 'docs/format.md'
    for place, numbers in (
            ('the examples of docs/format.md', re.findall('^    [0-9a-f]{16}  ([0-9]+) ', page, re.M)),
            ('src/core/format.h', re.findall(r'^\tCUCKOO_KEY_\w+ = ([1-9]\d*)', read('src/core/format.h'), re.M)),
            ('test/clients/keys.py', map(number_of, KEYS))):
        yield set(map(int, numbers)) == set(NUMBERS.values()), place
    for place, text in (('pgcuckoo.keys', pgcuckoo.keys.__doc__), ('index.d.ts', read('clients/javascript/index.d.ts'))):
        # In TypeScript a comment and the type
        yield all(re.search(r'(?<!\w)%s(?!\w)' % re.escape(name), part)
                  for part in text.split('*/')[:2] for name in (*NUMBERS, *ALIASES)), place


def key_examples(page):
    """Triples of the keys in the page: hash and seed in hexadecimal, and canonical bytes."""
    seeds = {number: '%x' % (number * KEY_TYPE_FACTOR & M64) for number in NUMBERS.values()}
    for line in re.findall('^    ([0-9a-f]{16}  .*)', page, re.M):
        hash_, key, bytes_ = re.split('  +', line)
        yield hash_, seeds[int(key.split()[0])], bytes.fromhex(bytes_)
    for line in re.findall('^(?: +[0-9]{1,4} [0-9a-f]{16})+$', page, re.M):
        for length, hash_ in re.findall('(\\S+) (\\S+)', line):
            yield hash_, seeds[NUMBERS['text']], bytes(33 + 7 * i % 94 for i in range(int(length)))


def unnoticed_faults(keys):
    """Faults in XXH3 that no example shows."""
    keys = json.dumps([[hash_, seed, bytes_.hex()] for hash_, seed, bytes_ in keys])
    return subprocess.run(['/usr/bin/node', Path(__file__).with_name('mutants.js'), JAVASCRIPT / 'src' / 'xxh3.js'],
                          input=keys, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout


def examples():
    """Pairs: whether an example is right, and its name."""
    page = read('docs/format.md')
    for heading, check in (('key, seed 0', check_classes), ('*f* | entries', check_bucket),
                           ('keys | *N*', check_size), ('type | description', check_signature)):
        found = rows(page, heading)
        yield len(found) > 3 and all(map(check, found)), 'page: %d rows of "%s"' % (len(found), heading)
    for right, place in check_key_types(page):
        yield right, '%s has all key types' % place
    found = list(key_examples(page))
    yield len(found) > 40 and all(xxh3_64_intdigest(bytes_, int(seed, 16)) == int(hash_, 16)
                                  for hash_, seed, bytes_ in found), 'page: the hashes of %d keys' % len(found)
    faults = unnoticed_faults(found)
    yield not faults, 'page: faults in XXH3 that they do not show: %s' % (faults[:300] or 'none')
    yield (struct.pack('<I', signature(('array', 'integer'))).hex(' ') == 'cf 00 4e f2' and
           'the first one is `cf 00 4e f2`' in page), 'page: a signature in the header'
    yield (hash_key('integer', 1, SHARD_SEED) == 0x46455a383e79dd43 and shard('integer', 1, 10) == 2 and
           '`46455a383e79dd43`' in page), 'page: the shard of 1'

    page = page[page.index('\n## Examples\n'):page.index('\n## Golden files\n')]
    one, two, first, second, dense, partial = (
        bytes.fromhex(''.join(block.split())) for block in re.findall(r'(?:^    [0-9a-f ]+\n)+', page, re.M))
    made = sql("SELECT encode(f::bytea, 'hex') FROM (SELECT cuckoo_agg(42, 1) UNION ALL SELECT {0} FROM (VALUES (7), (42)) AS v (k) "
               'UNION ALL SELECT {1} FROM generate_series(1, 60) AS i) AS x (f)'.format(*re.findall(r'`(cuckoo_agg\([ki], [^`]*)`', page)))
    yield [data for data, in made] == [data.hex() for data in (one, two, dense)], 'page: what the server makes'
    yield 'The expected rate is %.4e.' % CuckooFilter(one).expected_fpr in page, 'page: a filter of one key'
    without = CuckooFilter.build([42], 'integer')
    directory, table = (bytes.fromhex(text) for text in re.findall(r'`([0-9a-f]{8} [0-9a-f ]+)`', page))
    yield without.data[36:] == directory + table + bytes(8) and without.capacity == 0, 'page: a filter without a capacity'
    two = CuckooFilter(two)
    yield ([two.count(7), two.count(42)] == [1, 2] and 'the expected rate %.7f.' % two.expected_fpr in page and
           len(two.subfilters) == 2 and not two.removable), 'page: two tables, not removable'
    yield (SparseTable.of_codes(Shape(1, 6, 5), [1, 9, 9, 40, 41, 63, 70, 95]).data == first and
           SparseTable.of_codes(Shape(1, 34, 5), [c for c in range(3, 256, 3) if c % 32 for _ in range(4)]).data == second
           ), 'page: two sparse tables'
    filter_ = CuckooFilter(dense)
    counts = [filter_.count(i) for i in range(121)]
    yield (filter_.representation == 'dense' and 'the expected rate %.6f.' % filter_.expected_fpr in page and
           [i for i in range(1, 61) if counts[i] != 1] == [43, 49, 52, 60] and
           {counts[i] for i in (43, 49, 52, 60)} == {2} and
           [i for i in range(61, 121) if counts[i]] == [79, 82]), 'page: a dense filter'
    yield (CuckooFilter(partial).hashes and partial == write_partial(
        sorted(hash_key('text', text, 7) for text in 'abc'), 7)), 'page: a partial state'
