#!/usr/bin/python3
"""Reads and writes a cuckoofilter as docs/format.md says; nothing in it comes from the extension.

    reader.py FILE                   prints what the filter in FILE is
    reader.py FILE KEYTYPE KEY...    prints how often it contains each key
    reader.py - ...                  the same for a filter in base64 on standard input

Key types.  A key type is a name of NUMBERS for scalars and jsonb, or a tuple:

    ('array', element)               ('range', bound)          ('multirange', bound)
    ('composite', (column, ...))     'record', an anonymous row that brings its own types

In text (see parse_type) these are "array of integer", "range of date", "multirange of date",
"(integer, text)" and "record".

Keys.  What a Python value of each key type is:

    integer, money                   int of 64 bits, signed
    boolean                          bool
    "char"                           bytes or str of at most one byte
    text, enum                       str, or bytes taken as they are; of char(n) without the blanks
    bytea                            bytes, or str of hexadecimal digits with or without \\x
    bit                              str of 0 and 1
    double precision                 float
    numeric                          str, int or Decimal
    uuid, inet, macaddr, macaddr8    str
    date                             int: days since 2000-01-01; or str: ISO date, [-]infinity
    time                             int: microseconds since midnight; or str, ISO
    timetz                           (int: microseconds, int: seconds west of UTC)
    timestamp, timestamptz           int: microseconds since 2000-01-01; or str, ISO, [-]infinity
    interval                         (months, days, microseconds), each an int
    pg_lsn, xid8                     int of 64 bits, unsigned; of a pg_lsn also str, as 16/B374D848
    jsonb                            str: JSON
    array                            list of elements, its lower bound 1; or a dictionary of
                                     'bounds': [[length, lower bound], ...] and 'elements': [...]
    composite                        list of columns
    record                           list of pairs: (key type, value)
    range                            'empty', or (lower, upper, '[)'), with None for no bound
    multirange                       list of ranges

None is a NULL inside an array or row.  Ranges and multiranges must be in the canonical form of
PostgreSQL already: whether a range type is discrete does not follow from its key type.
"""

import binascii
import ipaddress
import json
import math
import re
import struct
import sys
from base64 import b64decode
from collections import Counter, deque
from datetime import date, datetime, time, timezone
from decimal import Decimal, InvalidOperation
from itertools import combinations_with_replacement

from xxhash import xxh3_64_intdigest

VERSION = 1
CONTENT_TABLES, CONTENT_PARTIAL = 0, 1
NOT_REMOVABLE, UNSET = 1, 2                 # flags
SPARSE, DENSE = 0, 1                        # representations
REPRESENTATIONS = ('sparse', 'dense')

HEADER_BYTES = 36
DIRECTORY_BYTES = 12                        # for each table
END_BYTES = 8                               # zeros
MIN_BYTES = HEADER_BYTES + END_BYTES
MAX_BYTES = 786432000                       # 750 MiB

MAX_TABLES = 16
MAX_COPIES = 8                              # of a class in one table
MAX_BLOCK = 32768                           # buckets of a block
MAX_BUCKETS = 393216000                     # of a table
MAX_CAPACITY = 1517813760
MIN_BITS, MAX_BITS = 5, 32                  # of a fingerprint
MIN_RATE, MAX_RATE = 2e-8, 0.1

BUCKET_ENTRIES = 4
MAX_RANK = 3875
RANK_BITS = 12

M32 = 2**32 - 1
M64 = 2**64 - 1

HEADER = struct.Struct('<BBBBIdQQB3s')      # the 36 bytes
DIRECTORY = struct.Struct('<IIHBB')         # blocks, items, buckets, bits, representation
UNSET_FILTER = bytes([VERSION, 0, 0, UNSET]) + bytes(40)

KEY_TYPE_FACTOR = 0x9E3779B97F4A7C15
SHARD_SEED = 0x243F6A8885A308D3

NAMES = ('integer', 'boolean', '"char"', 'text', 'bytea', 'bit', 'double precision', 'numeric',
         'money', 'uuid', 'date', 'time', 'timetz', 'timestamp', 'timestamptz', 'interval', 'inet',
         'macaddr', 'macaddr8', 'pg_lsn', 'xid8', 'enum', 'jsonb', 'array', 'composite', 'range',
         'multirange')
NUMBERS = {name: number for number, name in enumerate(NAMES, 1)}
ARRAY, COMPOSITE = NUMBERS['array'], NUMBERS['composite']
LAST_KEY_TYPE = len(NAMES)
RECORD_WITHOUT_VALUE = bytes((COMPOSITE, 255, 255))
NULL = b'\xff\xff\xff\xff'


class ReaderError(Exception):
    """What every error of this module is."""


class FormatError(ReaderError):
    """The bytes are not a valid filter."""


class KeyTypeError(ReaderError):
    """Not a key type, or not the key type of the filter."""


class KeyValueError(ReaderError):
    """The value is not one of its key type."""


class ParameterError(ReaderError):
    """A filter cannot be made with these parameters, or cannot be asked this."""


def require(condition, message, *args):
    """Raises FormatError with the message, which is formatted with the arguments."""
    if not condition:
        raise FormatError(message % args)


def ceil_div(a, b):
    return -(-a // b)


def read_bits(data, at, count):
    """The number of count bits that begins with bit at of the bytes, the lowest bit first."""
    number = int.from_bytes(data[at >> 3:(at + count + 7) >> 3], 'little')
    return (number >> (at & 7)) & ((1 << count) - 1)


# -------------------------------------------------------------------- shapes

class Shape:
    """The numbers of a table.

    blocks   N, at least 1
    buckets  B, those of one block: even, 2 to 32,768
    bits     f, those of a fingerprint: 5 to 32

    N B is at most 393,216,000.  Shape() raises FormatError if a number is out of range.
    """

    def __init__(self, blocks, buckets, bits):
        require(blocks >= 1, 'a table of %d blocks', blocks)
        require(2 <= buckets <= MAX_BLOCK and buckets % 2 == 0, 'a block of %d buckets', buckets)
        require(blocks * buckets <= MAX_BUCKETS, 'a table of %d buckets', blocks * buckets)
        require(MIN_BITS <= bits <= MAX_BITS, 'a fingerprint of %d bits', bits)
        self.blocks, self.buckets, self.bits = blocks, buckets, bits
        self.all_buckets = blocks * buckets
        self.pairs = self.all_buckets // 2              # P, the number of even buckets
        self.limit = self.pairs << bits                 # U, above all codes
        self.last_fingerprint = (1 << bits) - 1

    def __repr__(self):
        return 'Shape(%d, %d, %d)' % (self.blocks, self.buckets, self.bits)

    def key(self):
        """What the order of shapes compares."""
        return self.all_buckets, self.bits, self.blocks

    def entries(self):
        """How many entries a dense table has."""
        return BUCKET_ENTRIES * self.all_buckets

    def capacity(self):
        """For how many keys PostgreSQL uses this shape."""
        if self.all_buckets >= 2592:
            return 193 * self.entries() // 200
        return 383 * self.entries() // 400

    def code(self, hash_):
        """The code of a hash of 64 bits: from 1 to U - 1."""
        x = (hash_ * self.pairs) >> 32
        q, rest = x >> 32, x & M32
        return (q << self.bits) + 1 + ((rest * self.last_fingerprint) >> 32)

    def is_code(self, code):
        return 0 <= code < self.limit and code & self.last_fingerprint != 0

    def bucket_sum(self, fingerprint):
        """c(): the sum, modulo B, of the two buckets of a fingerprint; odd and below B."""
        h = fingerprint
        h = (h ^ (h >> 16)) * 0x85EBCA6B & M32
        h = (h ^ (h >> 13)) * 0xC2B2AE35 & M32
        h ^= h >> 16
        return ((h * self.buckets) >> 32) | 1

    def place(self, code):
        """(even bucket, odd bucket, fingerprint) of a code; buckets are those of the table."""
        q, fingerprint = code >> self.bits, code & self.last_fingerprint
        block, pair = divmod(q, self.buckets // 2)
        even = 2 * pair
        odd = (self.bucket_sum(fingerprint) - even) % self.buckets
        return block * self.buckets + even, block * self.buckets + odd, fingerprint

    def other_bucket(self, bucket, fingerprint):
        """The other of the two buckets of a fingerprint that is in this bucket of the table."""
        block, within = divmod(bucket, self.buckets)
        return block * self.buckets + (self.bucket_sum(fingerprint) - within) % self.buckets

    def code_at(self, bucket, fingerprint):
        """The code of a fingerprint, 1 to 2^f - 1, in a bucket of the table."""
        even = bucket if bucket % 2 == 0 else self.other_bucket(bucket, fingerprint)
        return (even // 2 << self.bits) + fingerprint

    def rate_log(self, items):
        """ln(1 - rate) of a table of this shape, 0 or negative."""
        return 8 * items / self.entries() * math.log1p(-1 / self.last_fingerprint)


def bits_for(fpr):
    """f0, the bits that a target rate asks for: 7 to 29."""
    bits = MIN_BITS
    while fpr * (2**bits - 1) < 7.72:
        bits += 1
    return bits


def shape_for(keys, bits):
    """The shape that PostgreSQL chooses for 1 to 1,517,813,760 keys with 5 to 32 bits."""
    if not 1 <= keys <= MAX_CAPACITY:
        raise ParameterError('no table for %d keys' % keys)
    if keys >= 10000:
        buckets = ceil_div(50 * keys, 193)
    else:
        buckets = 100 * keys // 383 + (1 if keys >= 5000 else 5)
    blocks = ceil_div(buckets, MAX_BLOCK)
    per_block = ceil_div(buckets, blocks)
    return Shape(blocks, per_block + per_block % 2, bits)


def first_shape(fpr, capacity):
    """The shape of the first table that PostgreSQL makes; capacity 0 is unknown."""
    if capacity:
        return shape_for(capacity, bits_for(fpr))
    return shape_for(2**20, bits_for(fpr) + 1)


# -------------------------------------------------------------------- tables

def limit_copies(codes):
    """The codes ascending, each at most eight times."""
    result = []
    for code, copies in sorted(Counter(codes).items()):
        result += [code] * min(copies, MAX_COPIES)
    return result


def check_codes(shape, codes):
    for code in codes:
        if not shape.is_code(code):
            raise ParameterError('%d is not a code of %r' % (code, shape))


class Table:
    """What both kinds of table have.

    shape  a Shape
    items  how many classes the table has, counted with their copies
    data   its bytes: size() of them, or None if they are not set yet

    SparseTable and DenseTable add count_code(code), codes() and validate().
    """
    representation = None

    def __init__(self, shape, items, data=None):
        self.shape, self.items, self.data = shape, items, data

    def count_hash(self, hash_):
        """How many copies the table has of the class of a hash: 0 to 8."""
        return self.count_code(self.shape.code(hash_))

    def classes(self):
        """Counter: the copies, 1 to 8, of each code stored."""
        return Counter(self.codes())

    def directory_entry(self):
        return DIRECTORY.pack(self.shape.blocks, self.items, self.shape.buckets, self.shape.bits,
                              self.representation)


class SparseTable(Table):
    """A sorted list of codes in Elias-Fano form."""
    representation = SPARSE

    def __init__(self, shape, items, data=None):
        super().__init__(shape, items, data)
        self.low_bits, self.high_parts, self.groups = self.parameters(shape, items)
        self.bits_at = 32 * (self.groups + 1)           # where the string of bits begins

    @staticmethod
    def parameters(shape, items):
        """(l, Z, g) of a table with so many items."""
        low_bits = 0
        while 2 * (((shape.limit - 1) >> low_bits) + 1) > 3 * max(items, 1):
            low_bits += 1
        high_parts = ((shape.limit - 1) >> low_bits) + 1
        return low_bits, high_parts, ceil_div(high_parts, 64)

    def string_bits(self):
        """How many bits are used after the starts."""
        return self.high_parts + self.items * (1 + self.low_bits)

    def size(self):
        """Bytes, from the shape and the number of items alone."""
        return 4 * (self.groups + 1) + (self.string_bits() + 7) // 8

    @classmethod
    def build(cls, shape, codes):
        """The table of these codes, in any order; copies beyond the eighth are left out."""
        codes = limit_copies(codes)
        check_codes(shape, codes)
        table = cls(shape, len(codes))
        low_bits, high_parts = table.low_bits, table.high_parts
        starts, bits, at = [0], [], 0
        for first in range(0, high_parts, 64):
            lows = []
            for high in range(first, min(first + 64, high_parts)):
                while at < len(codes) and codes[at] >> low_bits == high:
                    lows.append(codes[at] & ((1 << low_bits) - 1))
                    bits.append('1')
                    at += 1
                bits.append('0')
            if low_bits:
                bits += [format(low, '0%db' % low_bits)[::-1] for low in lows]
            starts.append(at)
        string = ''.join(bits)
        table.data = (struct.pack('<%dI' % len(starts), *starts) +
                      int(string[::-1], 2).to_bytes((len(string) + 7) // 8, 'little'))
        return table

    def start(self, j):
        """How many codes are in the groups before j; j is 0 to g."""
        return int.from_bytes(self.data[4 * j:4 * j + 4], 'little')

    def group(self, j):
        """(runs, lows_at, k) of a group, 0 to g - 1.

        runs     list of 64 strings, fewer in the last group: a '1' for each code of a high part
        lows_at  where, in bits from the table's first byte, the low parts begin
        k        the number of codes

        Raises FormatError if the starts or the upper part are wrong.
        """
        start, end = self.start(j), self.start(j + 1)
        require(start <= end <= self.items, 'the starts of a sparse table do not ascend')
        k, z = end - start, min(64, self.high_parts - 64 * j)
        base = self.bits_at + 64 * j + start * (1 + self.low_bits)
        upper = format(read_bits(self.data, base, z + k), '0%db' % (z + k))[::-1]
        require(upper.count('1') == k and upper[-1] == '0', 'a wrong upper part in a sparse table')
        return upper.split('0')[:-1], base + z + k, k

    def low(self, lows_at, number):
        return read_bits(self.data, lows_at + number * self.low_bits, self.low_bits)

    def count_code(self, code):
        """How many copies the table has of a code: 0 to 8."""
        high, low = code >> self.low_bits, code & ((1 << self.low_bits) - 1)
        j, r = divmod(high, 64)
        runs, lows_at, _ = self.group(j)
        before = sum(map(len, runs[:r]))
        return sum(self.low(lows_at, number) == low
                   for number in range(before, before + len(runs[r])))

    def codes(self):
        """All codes, ascending; a code with several copies as often."""
        codes = []
        for j in range(self.groups):
            runs, lows_at, _ = self.group(j)
            number = 0
            for high, run in enumerate(runs, 64 * j):
                for _ in run:
                    codes.append((high << self.low_bits) | self.low(lows_at, number))
                    number += 1
        return codes

    def validate(self):
        """Raises FormatError unless the table has its only form.  data has size() bytes."""
        require(self.start(0) == 0, 'the first start of a sparse table is not 0')
        require(self.start(self.groups) == self.items,
                'the last start of a sparse table is not its items')
        codes = self.codes()
        for i, code in enumerate(codes):
            require(self.shape.is_code(code), 'a sparse table with the code %d', code)
            require(i == 0 or codes[i - 1] <= code, 'the codes of a sparse table do not ascend')
            require(i < MAX_COPIES or codes[i - MAX_COPIES] != code, 'a code more than eight times')
        used = self.bits_at + self.string_bits()
        require(read_bits(self.data, used, -used % 8) == 0, 'bits behind the last group')


def make_multisets():
    """The 3,876 multisets of four nibbles, ascending tuples, in the order of their rank.

    The rank compares the largest nibble first, which is the order of the reversed tuples.
    """
    return sorted(combinations_with_replacement(range(16), 4), key=lambda nibbles: nibbles[::-1])


MULTISETS = make_multisets()


def rank_of(nibbles):
    """The rank, 0 to 3,875, of four nibbles in ascending order."""
    return sum(math.comb(nibble + i, i + 1) for i, nibble in enumerate(nibbles))


def entry_order(entry):
    """Entries of a bucket are sorted by their lowest four bits, then by the others."""
    return entry & 15, entry >> 4


class DenseTable(Table):
    """Buckets of four entries, semi-sorted."""
    representation = DENSE

    def size(self):
        """Bytes, from the shape alone."""
        return self.shape.all_buckets * (self.shape.bits - 1) // 2

    def entries(self, bucket):
        """The four entries of a bucket, 0 to N B - 1; FormatError if the rank is wrong."""
        width = 4 * (self.shape.bits - 1)
        value = read_bits(self.data, width * bucket, width)
        rank, value = value & ((1 << RANK_BITS) - 1), value >> RANK_BITS
        require(rank <= MAX_RANK, 'a bucket of rank %d', rank)
        high_bits = self.shape.bits - 4
        return [16 * ((value >> (high_bits * i)) & ((1 << high_bits) - 1)) + nibble
                for i, nibble in enumerate(MULTISETS[rank])]

    def pack(self, entries):
        """The number of 4 (f - 1) bits that stands for four entries, in any order."""
        entries = sorted(entries, key=entry_order)
        value = rank_of([entry & 15 for entry in entries])
        for i, entry in enumerate(entries):
            value |= entry >> 4 << (RANK_BITS + (self.shape.bits - 4) * i)
        return value

    @classmethod
    def build(cls, shape, codes):
        """The table of these codes, in any order, or None if they do not all find a place.

        Copies beyond the eighth are left out.  An item whose buckets are full gets its place by
        the shortest chain of moves.  If there is no chain, then no other choice of places would
        do either (the chains are the augmenting paths of a matching).
        """
        codes = limit_copies(codes)
        check_codes(shape, codes)
        if len(codes) > shape.entries():
            return None
        buckets = [[] for _ in range(shape.all_buckets)]
        for code in codes:
            even, odd, fingerprint = shape.place(code)
            bucket = cls.make_room(shape, buckets, even, odd)
            if bucket is None:
                return None
            buckets[bucket].append(fingerprint)
        table = cls(shape, len(codes))
        width = shape.bits - 1                          # bytes of two buckets
        table.data = b''.join(
            (table.pack(one + [0] * (4 - len(one))) |
             table.pack(two + [0] * (4 - len(two))) << 4 * width).to_bytes(width, 'little')
            for one, two in zip(buckets[::2], buckets[1::2]))
        return table

    @staticmethod
    def make_room(shape, buckets, even, odd):
        """One of the two buckets, with an empty entry, after moves if it needs them; or None.

        buckets is a list of lists of fingerprints, at most four each.
        """
        came_from = {even: None, odd: None}             # bucket: bucket and entry moved into it
        queue = deque((even, odd))
        while queue:
            bucket = queue.popleft()
            if len(buckets[bucket]) < BUCKET_ENTRIES:
                while came_from[bucket]:
                    source, fingerprint = came_from[bucket]
                    buckets[source].remove(fingerprint)
                    buckets[bucket].append(fingerprint)
                    bucket = source
                return bucket
            for fingerprint in buckets[bucket]:
                other = shape.other_bucket(bucket, fingerprint)
                if other not in came_from:
                    came_from[other] = bucket, fingerprint
                    queue.append(other)
        return None

    def count_code(self, code):
        """How many copies the table has of a code: 0 to 8."""
        even, odd, fingerprint = self.shape.place(code)
        return (self.entries(even) + self.entries(odd)).count(fingerprint)

    def codes(self):
        """All codes, ascending; a code with several copies as often."""
        return sorted(self.shape.code_at(bucket, entry) for bucket in range(self.shape.all_buckets)
                      for entry in self.entries(bucket) if entry)

    def validate(self):
        """Raises FormatError unless buckets and items are right.  data has size() bytes."""
        items = 0
        for bucket in range(self.shape.all_buckets):
            entries = self.entries(bucket)
            require(entries == sorted(entries, key=entry_order),
                    'entries of a bucket are not in their order')
            items += BUCKET_ENTRIES - entries.count(0)
        require(items == self.items, 'a dense table of %d items has %d', self.items, items)


TABLES = {SPARSE: SparseTable, DENSE: DenseTable}


# ------------------------------------------------------------------- filters

class Filter:
    """A filter or partial state, completely validated; FormatError if the bytes are neither.

    partial         whether it is a partial state
    key_type_number 0 to 27; 0 if the filter has not seen a key
    signature       32 bits, 0 for scalar keys
    flags           sum of NOT_REMOVABLE and UNSET
    removable       whether keys can be removed
    fpr             the target rate; 0 of an unset filter
    capacity        in keys, 0 if unknown
    seed            64 bits, unsigned
    tables          list of SparseTable and DenseTable, in the order of the directory
    hashes          list of the hashes of a partial state, ascending; None of a filter
    """

    def __init__(self, data):
        self.data = data = bytes(data)
        self.tables, self.hashes = [], None
        self.read_header(data)
        self.read_directory(data)
        self.read_content(data)

    @classmethod
    def from_text(cls, text):
        """The filter of PostgreSQL's text form, base64."""
        try:
            return cls(b64decode(text, validate=True))
        except (binascii.Error, ValueError) as error:
            raise FormatError('not base64: %s' % error) from None

    def read_header(self, data):
        require(len(data) > 0, 'no bytes')
        require(not 2 <= data[0] <= 15, 'version %d of the format is not known', data[0])
        require(data[0] == VERSION, 'not a filter: it begins with the byte %d', data[0])
        require(len(data) >= MIN_BYTES, 'only %d bytes', len(data))
        require(len(data) <= MAX_BYTES, '%d bytes are more than 750 MiB', len(data))

        (_, content, self.key_type_number, self.flags, self.signature, self.fpr, self.capacity,
         self.seed, self.table_count, zeros) = HEADER.unpack_from(data)
        self.partial = content == CONTENT_PARTIAL
        self.removable = not self.flags & NOT_REMOVABLE
        require(content in (CONTENT_TABLES, CONTENT_PARTIAL), 'content %d', content)
        require(self.key_type_number <= LAST_KEY_TYPE,
                'key type %d is not known', self.key_type_number)
        require(self.flags <= NOT_REMOVABLE + UNSET, 'flags %d', self.flags)
        require(not self.partial or self.flags == 0, 'a partial state with flags')
        require(zeros == bytes(3), 'bytes 33 to 35 are not 0')
        if self.flags & UNSET:
            require(data[:HEADER_BYTES] == UNSET_FILTER[:HEADER_BYTES],
                    'an unset filter with parameters')
            return
        require((self.signature != 0) == (self.key_type_number >= ARRAY),
                'signature %08x of key type %d', self.signature, self.key_type_number)
        # A NaN fails, too.
        require(MIN_RATE <= self.fpr <= MAX_RATE, 'target rate %r', self.fpr)
        require(self.capacity <= MAX_CAPACITY, 'capacity %d', self.capacity)
        if self.partial:
            require(self.table_count == 0, 'a partial state with tables')
        else:
            require(1 <= self.table_count <= MAX_TABLES, '%d tables', self.table_count)

    def read_directory(self, data):
        """Sets the tables, still without data."""
        require(len(data) >= MIN_BYTES + DIRECTORY_BYTES * self.table_count,
                'the directory is cut off')
        last = None
        for i in range(self.table_count):
            blocks, items, buckets, bits, representation = DIRECTORY.unpack_from(
                data, HEADER_BYTES + DIRECTORY_BYTES * i)
            shape = Shape(blocks, buckets, bits)
            require(representation in TABLES, 'representation %d', representation)
            require(representation == SPARSE or items <= shape.entries(),
                    'a dense table of %d items', items)
            require(items == 0 or self.key_type_number, 'items without a key type')
            require(last is None or last.key() < shape.key(),
                    'tables are not in the order of shapes')
            self.tables.append(TABLES[representation](shape, items))
            last = shape

    def read_content(self, data):
        end = len(data) - END_BYTES
        at = HEADER_BYTES + DIRECTORY_BYTES * self.table_count
        if self.partial:
            require((end - at) % 8 == 0, 'a hash is cut off')
            require(end == at or self.key_type_number, 'hashes without a key type')
        else:
            require(end == at + sum(table.size() for table in self.tables),
                    '%d bytes are not what the directory describes', len(data))
        require(data[end:] == bytes(END_BYTES), 'the last eight bytes are not 0')
        for table in self.tables:
            table.data = data[at:at + table.size()]
            at += table.size()
            table.validate()
        if self.partial:
            self.hashes = list(struct.unpack('<%dQ' % ((end - at) // 8), data[at:end]))
            require(all(a < b for a, b in zip(self.hashes, self.hashes[1:])),
                    'hashes do not ascend')

    def key_type(self):
        """The name of the key type, or None if the filter has not seen a key."""
        return NAMES[self.key_type_number - 1] if self.key_type_number else None

    def representation(self):
        """'sparse', 'dense', or 'mixed' if there are tables of both; None without tables."""
        kinds = {REPRESENTATIONS[table.representation] for table in self.tables}
        return kinds.pop() if len(kinds) == 1 else 'mixed' if kinds else None

    def items(self):
        return sum(table.items for table in self.tables)

    def rate(self):
        """The expected rate, from 0 to 1."""
        return -math.expm1(sum(table.shape.rate_log(table.items) for table in self.tables)) + 0.0

    def classes(self):
        """For each table, a Counter: the copies, 1 to 8, of each code."""
        return [table.classes() for table in self.tables]

    def count_hash(self, hash_):
        """The count, 0 to 8, of a key with this hash, which was made with the filter's seed."""
        if self.partial:
            raise ParameterError('a partial state cannot be looked into')
        return min(MAX_COPIES, sum(table.count_hash(hash_) for table in self.tables))

    def count(self, key_type, value):
        """The count, 0 to 8, of a key; KeyTypeError if it is not of the filter's key type."""
        if self.partial:
            raise ParameterError('a partial state cannot be looked into')
        if self.key_type_number == 0:
            return 0
        if number_of(key_type) != self.key_type_number:
            raise KeyTypeError('the keys of the filter are of type %s, not %s' % (
                self.key_type(), type_name(key_type)))
        if signature(key_type, value) != self.signature:
            raise KeyTypeError('the filter has another %s than %s' % (
                self.key_type(), type_name(key_type)))
        return self.count_hash(hash_key(key_type, value, self.seed))

    def contains(self, key_type, value):
        """Whether the filter reports the key as present; KeyTypeError as of count()."""
        return self.count(key_type, value) > 0

    def info(self):
        """Lines of text that say what the filter is."""
        if self.flags & UNSET:
            return ['unset filter, version %d' % VERSION]
        kind = 'partial state' if self.partial else 'filter'
        lines = ['%s, version %d, %d bytes' % (kind, VERSION, len(self.data)),
                 'key type: %s' % (self.key_type() or 'none yet')]
        if self.signature:
            lines.append('signature: %08x' % self.signature)
        lines += ['target rate: %r' % self.fpr, 'capacity: %s' % (self.capacity or 'unknown'),
                  'seed: %d' % (self.seed - (self.seed >> 63 << 64))]
        if self.partial:
            return lines + ['hashes: %d' % len(self.hashes)]
        lines += ['removable: %s' % ('yes' if self.removable else 'no'), 'items: %d' % self.items(),
                  'expected rate: %.6g' % self.rate()]
        for i, table in enumerate(self.tables, 1):
            shape = table.shape
            lines.append('table %d: %s, %d items, N = %d, B = %d, f = %d, %d bytes, '
                         'expected rate %.6g' % (
                             i, REPRESENTATIONS[table.representation], table.items, shape.blocks,
                             shape.buckets, shape.bits, table.size(),
                             -math.expm1(shape.rate_log(table.items)) + 0.0))
        return lines


# ------------------------------------------------------------------- writing

def write_header(content, number, flags, signature_, fpr, capacity, seed, tables):
    """The 36 bytes of a header; tables is their number."""
    return HEADER.pack(VERSION, content, number, flags, signature_, fpr, capacity, seed & M64,
                       tables, bytes(3))


def write(tables, key_type, fpr, capacity=0, seed=0, flags=0, signature_=None):
    """The bytes of a filter of these tables, which are put into the order of shapes.

    key_type    None if there are no keys yet
    seed        64 bits, signed or unsigned
    signature_  needed if the key type has anonymous records; else it follows from the key type

    The result is not validated: Filter() of it refuses, for example, a shape twice.
    """
    number = number_of(key_type) if key_type else 0
    if signature_ is None:
        signature_ = signature(key_type) if key_type else 0
    tables = sorted(tables, key=lambda table: table.shape.key())
    return (write_header(CONTENT_TABLES, number, flags, signature_, fpr, capacity, seed,
                         len(tables)) +
            b''.join(table.directory_entry() for table in tables) +
            b''.join(table.data for table in tables) + bytes(END_BYTES))


def check_parameters(fpr, capacity):
    if not MIN_RATE <= fpr <= MAX_RATE:
        raise ParameterError('target rate %r' % fpr)
    if not 0 <= capacity <= MAX_CAPACITY:
        raise ParameterError('capacity %d' % capacity)


def common_signature(key_type, values):
    """The signature of all keys; KeyTypeError if records among them are not alike."""
    signatures = {signature(key_type, value) for value in values}
    if len(signatures) > 1:
        raise KeyTypeError('keys of different signatures')
    return signatures.pop() if signatures else 0


def write_keys(key_type, values, fpr, capacity=0, seed=0):
    """The bytes of the filter that PostgreSQL makes of an array of these keys.

    Of a sparse table these are the same bytes.  In a dense one an entry can be in the other of its
    two buckets.  Without keys the filter has no key type.
    """
    check_parameters(fpr, capacity)
    values = list(values)
    hashes = {hash_key(key_type, value, seed & M64) for value in values}
    if len(hashes) > (capacity or 1024):
        capacity = len(hashes)
    shape = first_shape(fpr, capacity)
    others = MIN_BYTES + DIRECTORY_BYTES
    if capacity and others + DenseTable(shape, 0).size() > MAX_BYTES:
        raise ParameterError('a filter for %d keys is larger than 750 MiB' % capacity)
    codes = [shape.code(hash_) for hash_ in hashes]
    table = None
    if 3 * shape.all_buckets <= len(limit_copies(codes)):
        table = DenseTable.build(shape, codes)
    table = table or SparseTable.build(shape, codes)
    return write([table], key_type if values else None, fpr, capacity, seed,
                 signature_=common_signature(key_type, values))


def write_partial(key_type, hashes, fpr, capacity=0, seed=0, signature_=None):
    """The bytes of a partial state of these hashes, in any order; parameters as of write()."""
    check_parameters(fpr, capacity)
    number = number_of(key_type) if key_type else 0
    if signature_ is None:
        signature_ = signature(key_type) if key_type else 0
    hashes = sorted(set(hashes))
    return (write_header(CONTENT_PARTIAL, number, 0, signature_, fpr, capacity, seed, 0) +
            struct.pack('<%dQ' % len(hashes), *hashes) + bytes(END_BYTES))


# ----------------------------------------------------------------- key types

def number_of(key_type):
    """The number of a key type: 1 to 27."""
    if key_type == 'record':
        return COMPOSITE
    if isinstance(key_type, str) and NUMBERS.get(key_type, ARRAY) < ARRAY:
        return NUMBERS[key_type]
    if isinstance(key_type, tuple) and len(key_type) == 2 and NUMBERS.get(key_type[0], 0) >= ARRAY:
        return NUMBERS[key_type[0]]
    raise KeyTypeError('no key type: %r' % (key_type,))


def type_name(key_type):
    """The text of a key type, which parse_type() reads."""
    number_of(key_type)
    if isinstance(key_type, str):
        return key_type
    kind, inside = key_type
    if kind == 'composite':
        return '(%s)' % ', '.join(map(type_name, inside))
    return '%s of %s' % (kind, type_name(inside))


TYPE_WORD = re.compile('(array|range|multirange) of |(%s)(?![\\w"])' % '|'.join(
    sorted(map(re.escape, NAMES[:ARRAY - 1] + ('record',)), key=len, reverse=True)))


def parse_type(text):
    """The key type of a text such as 'array of (integer, date)'; else KeyTypeError."""
    key_type, rest = parse_type_at(text, 0)
    if text[rest:].strip():
        raise KeyTypeError('no key type: %s' % text)
    return key_type


def parse_type_at(text, at):
    """(key type, where it ends)"""
    while text[at:at + 1] == ' ':
        at += 1
    if text[at:at + 1] == '(':
        columns = []
        at += 1
        if text[at:at + 1] == ')':
            return ('composite', ()), at + 1
        while True:
            column, at = parse_type_at(text, at)
            columns.append(column)
            if text[at:at + 1] == ')':
                return ('composite', tuple(columns)), at + 1
            if text[at:at + 1] != ',':
                raise KeyTypeError('no key type: %s' % text)
            at += 1
    found = TYPE_WORD.match(text, at)
    if not found:
        raise KeyTypeError('no key type: %s' % text)
    if found[2]:
        return found[2], found.end()
    inside, at = parse_type_at(text, found.end())
    return (found[1], inside), at


def sequence(value, name):
    """The value, if it is a list, a tuple or a range of Python; KeyValueError otherwise."""
    if not isinstance(value, (list, tuple, range)):
        raise KeyValueError('%s: %r is not a list' % (name, value))
    return value


def array_parts(value):
    """(bounds, elements) of an array value; bounds are pairs of length and lower bound."""
    if not isinstance(value, dict):
        elements = sequence(value, 'array')
        return ([(len(elements), 1)] if elements else []), elements
    if set(value) != {'bounds', 'elements'}:
        raise KeyValueError('array: %r' % (value,))
    bounds = [sequence(pair, 'bounds') for pair in sequence(value['bounds'], 'bounds')]
    if any(len(pair) != 2 for pair in bounds):
        raise KeyValueError('array: bounds are pairs')
    return bounds, sequence(value['elements'], 'array')


def record_parts(value):
    """(key types, values) of the columns of an anonymous record."""
    if any(len(sequence(pair, 'record')) != 2 for pair in sequence(value, 'record')):
        raise KeyValueError('record: columns are pairs of key type and value')
    return [key_type for key_type, _ in value], [inside for _, inside in value]


def description(key_type, value=None):
    """The bytes that the signature is made from; anonymous records are described by the value."""
    number = number_of(key_type)
    if key_type == 'record':
        if value is None:
            return RECORD_WITHOUT_VALUE
        return describe_columns(*record_parts(value))
    if number < ARRAY:
        return bytes((number,))
    kind, inside = key_type
    if kind == 'composite':
        return describe_columns(inside, value if value is not None else [None] * len(inside))
    first = None
    if kind == 'array' and value is not None:
        first = next((one for one in array_parts(value)[1] if one is not None), None)
    return bytes((number,)) + description(inside, first)


def check_columns(columns, values):
    if len(columns) != len(sequence(values, 'row')):
        raise KeyValueError('a row of %d columns with %d values' % (len(columns), len(values)))


def describe_columns(columns, values):
    check_columns(columns, values)
    return struct.pack('<BH', COMPOSITE, len(columns)) + b''.join(map(description, columns, values))


def signature(key_type, value=None):
    """32 bits; 0 for scalar keys and jsonb, and never 0 for others."""
    if number_of(key_type) < ARRAY:
        return 0
    return xxh3_64_intdigest(description(key_type, value)) & M32 or 1


# ----------------------------------------------------------- canonical bytes

def integer_bytes(value, format_, name):
    if isinstance(value, bool) or not isinstance(value, int):
        raise KeyValueError('%s: %r is not an int' % (name, value))
    try:
        return struct.pack(format_, value)
    except struct.error:
        raise KeyValueError('%s: %d is out of range' % (name, value)) from None


def of_format(format_, name):
    return lambda value: integer_bytes(value, format_, name)


def boolean_bytes(value):
    if not isinstance(value, bool):
        raise KeyValueError('boolean: %r' % (value,))
    return bytes((value,))


def text_bytes(value):
    if isinstance(value, bytes):
        return value
    if not isinstance(value, str) or '\0' in value:
        raise KeyValueError('text: %r' % (value,))
    try:
        return value.encode('utf-8')
    except UnicodeEncodeError:
        raise KeyValueError('text: %r is not Unicode' % value) from None


def char_bytes(value):
    value = text_bytes(value) or b'\0'
    if len(value) != 1:
        raise KeyValueError('"char": more than one byte')
    return value


def hex_bytes(value, name, lengths=None):
    try:
        result = bytes.fromhex(value)
    except (TypeError, ValueError):
        raise KeyValueError('%s: %r' % (name, value)) from None
    if lengths is not None and len(result) != lengths:
        raise KeyValueError('%s: %r' % (name, value))
    return result


def bytea_bytes(value):
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    return hex_bytes(value[2:] if str(value).startswith('\\x') else value, 'bytea')


def bit_bytes(value):
    if not isinstance(value, str) or not re.fullmatch('[01]*', value):
        raise KeyValueError('bit: %r' % (value,))
    padded = value + '0' * (-len(value) % 8)
    return struct.pack('<I', len(value)) + bytes(
        int(padded[i:i + 8], 2) for i in range(0, len(padded), 8))


def double_bytes(value):
    try:
        value = float(value)
    except (TypeError, ValueError, OverflowError):
        raise KeyValueError('double precision: %r' % (value,)) from None
    if math.isnan(value):
        return struct.pack('<Q', 0x7FF8000000000000)
    return struct.pack('<d', value + 0.0)               # -0 + 0 is 0


NUMBER = re.compile(r'\s*([+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|nan|[+-]?inf(inity)?)\s*',
                    re.ASCII | re.IGNORECASE)


def numeric_bytes(value):
    if isinstance(value, str) and not NUMBER.fullmatch(value):
        raise KeyValueError('numeric: %r' % value)
    if isinstance(value, (bool, float)):
        raise KeyValueError('numeric: %r is not exact' % (value,))
    try:
        value = Decimal(value)
    except (TypeError, ValueError, InvalidOperation):
        raise KeyValueError('numeric: %r' % (value,)) from None
    if value.is_nan():
        return struct.pack('<Hh', 0xC000, 0)
    if value.is_infinite():
        return struct.pack('<Hh', 0xF000 if value < 0 else 0xD000, 0)
    negative, decimals, exponent = value.as_tuple()
    text = ''.join(map(str, decimals)) + '0' * (exponent % 4)
    text = '0' * (-len(text) % 4) + text
    digits = [int(text[i:i + 4]) for i in range(0, len(text), 4)]
    weight = len(digits) - 1 + exponent // 4            # of the first digit
    while digits and digits[-1] == 0:
        digits.pop()
    while digits and digits[0] == 0:
        digits.pop(0)
        weight -= 1
    if not digits:
        negative = weight = 0
    if not -2**15 <= weight < 2**15:
        raise KeyValueError('numeric: out of range')
    return struct.pack('<Hh%dh' % len(digits), 0x4000 if negative else 0, weight, *digits)


def uuid_bytes(value):
    return hex_bytes(re.sub('[-{}]', '', str(value)), 'uuid', 16)


def mac_bytes(length, name):
    return lambda value: hex_bytes(re.sub('[-:.]', '', str(value)), name, length)


def iso(parse, value, name):
    try:
        return parse(value)
    except ValueError as error:
        raise KeyValueError('%s: %s' % (name, error)) from None


def date_bytes(value):
    if isinstance(value, str):
        ends = {'infinity': 2**31 - 1, '-infinity': -2**31}
        if value in ends:
            value = ends[value]
        else:
            value = (iso(date.fromisoformat, value, 'date') - date(2000, 1, 1)).days
    return integer_bytes(value, '<i', 'date')


def microseconds(interval):
    return (interval.days * 86400 + interval.seconds) * 10**6 + interval.microseconds


def time_bytes(value):
    if isinstance(value, str):
        value = iso(time.fromisoformat, value, 'time')
        value = ((value.hour * 60 + value.minute) * 60 + value.second) * 10**6 + value.microsecond
    return integer_bytes(value, '<q', 'time')


def timestamp_bytes(value):
    """Of timestamp, and of timestamptz, which is UTC if the text has no zone."""
    if isinstance(value, str):
        ends = {'infinity': 2**63 - 1, '-infinity': -2**63}
        if value in ends:
            value = ends[value]
        else:
            value = iso(datetime.fromisoformat, value, 'timestamp')
            if value.tzinfo is None:
                value = value.replace(tzinfo=timezone.utc)
            value = microseconds(value - datetime(2000, 1, 1, tzinfo=timezone.utc))
    return integer_bytes(value, '<q', 'timestamp')


def parts(value, count, name):
    if len(sequence(value, name)) != count:
        raise KeyValueError('%s: %r does not have %d parts' % (name, value, count))
    return value


def timetz_bytes(value):
    local, west = parts(value, 2, 'timetz')
    return integer_bytes(local, '<q', 'timetz') + integer_bytes(west, '<i', 'timetz')


DAY = 86400 * 10**6


def interval_bytes(value):
    months, days, time_ = parts(value, 3, 'interval')
    for part, format_ in (months, '<i'), (days, '<i'), (time_, '<q'):
        integer_bytes(part, format_, 'interval')
    more_days, rest = divmod(time_, DAY)
    return struct.pack('<qq', 30 * months + days + more_days, rest)


def inet_bytes(value):
    try:
        found = ipaddress.ip_interface(value)
    except ValueError as error:
        raise KeyValueError('inet: %s' % error) from None
    if '%' in str(value):
        raise KeyValueError('inet: %r has a zone' % value)
    return bytes((found.version, found.network.prefixlen)) + found.ip.packed


def pg_lsn_bytes(value):
    if isinstance(value, str):
        found = re.fullmatch('([0-9A-Fa-f]{1,8})/([0-9A-Fa-f]{1,8})', value)
        if not found:
            raise KeyValueError('pg_lsn: %r' % value)
        value = int(found[1], 16) << 32 | int(found[2], 16)
    return integer_bytes(value, '<Q', 'pg_lsn')


def with_length(data):
    return struct.pack('<I', len(data)) + data


def refuse_constant(name):
    raise ValueError('%s is not JSON' % name)


def jsonb_bytes(value):
    try:
        # Numbers must stay exact.
        parsed = json.loads(value, parse_int=Decimal, parse_float=Decimal,
                            parse_constant=refuse_constant)
        return json_value_bytes(parsed)
    except (TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise KeyValueError('jsonb: %s' % error) from None


def json_value_bytes(value):
    """Of None, a bool, Decimal, str, list or dictionary of strings and such."""
    if value is None:
        return b'\0'
    if isinstance(value, bool):
        return b'\2' if value else b'\1'
    if isinstance(value, Decimal):
        return b'\3' + with_length(numeric_bytes(value))
    if isinstance(value, str):
        return b'\4' + with_length(text_bytes(value))
    if isinstance(value, list):
        return b'\5' + struct.pack('<I', len(value)) + b''.join(map(json_value_bytes, value))
    pairs = sorted(((text_bytes(key), inside) for key, inside in value.items()),
                   key=lambda pair: (len(pair[0]), pair[0]))
    return b'\6' + struct.pack('<I', len(pairs)) + b''.join(
        with_length(key) + json_value_bytes(inside) for key, inside in pairs)


SCALARS = {
    'integer': of_format('<q', 'integer'), 'boolean': boolean_bytes, '"char"': char_bytes,
    'text': text_bytes, 'bytea': bytea_bytes, 'bit': bit_bytes,
    'double precision': double_bytes, 'numeric': numeric_bytes,
    'money': of_format('<q', 'money'), 'uuid': uuid_bytes, 'date': date_bytes, 'time': time_bytes,
    'timetz': timetz_bytes, 'timestamp': timestamp_bytes, 'timestamptz': timestamp_bytes,
    'interval': interval_bytes, 'inet': inet_bytes, 'macaddr': mac_bytes(6, 'macaddr'),
    'macaddr8': mac_bytes(8, 'macaddr8'), 'pg_lsn': pg_lsn_bytes, 'xid8': of_format('<Q', 'xid8'),
    'enum': text_bytes, 'jsonb': jsonb_bytes}


def nested(key_type, value):
    """A value inside another, or NULL for None."""
    return NULL if value is None else with_length(canonical_bytes(key_type, value))


def array_bytes(element, value):
    bounds, elements = array_parts(value)
    if (math.prod(length for length, _ in bounds) if bounds else 0) != len(elements):
        raise KeyValueError('array: %d elements do not fill the dimensions' % len(elements))
    if bounds and not elements:
        raise KeyValueError('array: one without elements has no dimensions')
    return (struct.pack('<BI', number_of(element), len(bounds)) +
            b''.join(integer_bytes(number, '<i', 'array') for pair in bounds for number in pair) +
            b''.join(nested(element, inside) for inside in elements))


def row_bytes(columns, values):
    check_columns(columns, values)
    return struct.pack('<I', len(columns)) + b''.join(
        bytes((number_of(column),)) + nested(column, value)
        for column, value in zip(columns, values))


def range_bytes(bound, value):
    """A range from its flags on."""
    if value == 'empty':
        return b'\1'
    lower, upper, brackets = parts(value, 3, 'range')
    if brackets not in ('[]', '[)', '(]', '()'):
        raise KeyValueError('range: %r' % (brackets,))
    flags = (2 if lower is None else 4 if brackets[0] == '[' else 0) + (
        8 if upper is None else 16 if brackets[1] == ']' else 0)
    return bytes((flags,)) + b''.join(
        nested(bound, value) for value in (lower, upper) if value is not None)


def canonical_bytes(key_type, value):
    """The canonical bytes of a key; KeyValueError if the value is not one of the key type."""
    number = number_of(key_type)
    if value is None:
        raise KeyValueError('NULL is no key')
    if key_type == 'record':
        return row_bytes(*record_parts(value))
    if number < ARRAY:
        return SCALARS[key_type](value)
    kind, inside = key_type
    if kind == 'array':
        return array_bytes(inside, value)
    if kind == 'composite':
        return row_bytes(inside, value)
    if kind == 'range':
        return bytes((number_of(inside),)) + range_bytes(inside, value)
    return (struct.pack('<BI', number_of(inside), len(sequence(value, 'multirange'))) +
            b''.join(range_bytes(inside, one) for one in value))


def hash_key(key_type, value, seed=0):
    """The hash of a key, 64 bits unsigned; seed is 64 bits, signed or unsigned."""
    return xxh3_64_intdigest(canonical_bytes(key_type, value),
                             (seed + number_of(key_type) * KEY_TYPE_FACTOR) & M64)


def shard(key_type, value, shards):
    """The shard of a key, 0 to shards - 1; shards is 1 to 2^31 - 1."""
    if not 1 <= shards < 2**31:
        raise ParameterError('%r shards' % (shards,))
    return ((hash_key(key_type, value, SHARD_SEED) >> 32) * shards) >> 32


# -------------------------------------------------------------- command line

AS_TEXT = ('"char"', 'text', 'bytea', 'bit', 'numeric', 'uuid', 'inet', 'macaddr', 'macaddr8',
           'enum', 'jsonb', 'pg_lsn')
AS_NUMBER_OR_TEXT = ('date', 'time', 'timestamp', 'timestamptz')


def parse_key(key_type, text):
    """The value of a key on the command line.

    Key types made of parts, timetz and interval are JSON: [1, null], [1, 5, "[)"] for a range,
    [["text", "x"]] for a record.
    """
    try:
        if key_type in AS_TEXT:
            return text
        if key_type in AS_NUMBER_OR_TEXT:
            return int(text) if re.fullmatch('-?[0-9]+', text) else text
        if key_type == 'boolean':
            return {'t': True, 'true': True, 'f': False, 'false': False}[text.lower()]
        if key_type == 'double precision':
            return float(text)
        if isinstance(key_type, str) and key_type not in ('timetz', 'interval', 'record'):
            return int(text)
        if key_type[0] == 'range' and text == 'empty':
            return text
        return from_json(key_type, json.loads(text, parse_float=Decimal))
    except (ValueError, KeyError, TypeError) as error:
        raise KeyValueError('not a key of type %s: %s (%s)' % (
            type_name(key_type), text, error)) from None


def from_json(key_type, value):
    """The value of a key inside JSON: types of records are texts there."""
    if value is None or value == 'empty':
        return value
    if key_type == 'record':
        return [(parse_type(column), from_json(parse_type(column), inside))
                for column, inside in value]
    if isinstance(key_type, str):
        return value
    kind, inside = key_type
    if kind == 'composite':
        check_columns(inside, value)
        return [from_json(column, one) for column, one in zip(inside, value)]
    if kind == 'range':
        return [from_json(inside, value[0]), from_json(inside, value[1]), value[2]]
    if kind == 'multirange':
        return [from_json(('range', inside), one) for one in value]
    if isinstance(value, dict):
        return dict(value, elements=[from_json(inside, one) for one in value['elements']])
    return [from_json(inside, one) for one in sequence(value, kind)]


def main(args):
    if not args or len(args) == 2 or args[0] in ('-h', '--help'):
        print('usage: reader.py FILE|- [KEYTYPE KEY...]', file=sys.stderr)
        return 2
    try:
        if args[0] == '-':
            filter_ = Filter.from_text(sys.stdin.read().strip())
        else:
            with open(args[0], 'rb') as file:
                filter_ = Filter(file.read())
        if len(args) == 1:
            print('\n'.join(filter_.info()))
            return 0
        key_type = parse_type(args[1])
        for text in args[2:]:
            print('%s\t%d' % (text, filter_.count(key_type, parse_key(key_type, text))))
    except (ReaderError, OSError) as error:
        print('reader.py: %s' % error, file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
