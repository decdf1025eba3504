#!/usr/bin/python3
"""Reads a cuckoofilter without PostgreSQL, and writes one, as docs/format.md describes it.

    reader.py FILE [TYPE KEY...]

FILE has the filter's bytes or their base64 text; - is standard input.  Prints
what the filter is, and of each key its count, 0 to 8.  TYPE is one like text,
"array of integer", "range of date" or "(integer, text)", a row.  Keys are in
JSON, in the forms that the functions below take; of a plain word the quotes may
be left out.

Needs python3-xxhash.
"""

import binascii
import json
import math
import re
import struct
import sys
from base64 import b64decode
from decimal import Decimal
from ipaddress import ip_interface
from itertools import combinations_with_replacement, groupby
from uuid import UUID

from xxhash import xxh3_64_intdigest

HEADER_BYTES = 36
DIRECTORY_BYTES = 12
TAIL_BYTES = 8
MAX_BYTES = 786432000
MAX_BUCKETS = 393216000
MAX_CAPACITY = 1517813760
MAX_TABLES = 16
MAX_COPIES = 8
TABLES, PARTIAL = range(2)
NOT_REMOVABLE, UNSET = 1, 2
SPARSE, DENSE = range(2)
UNSET_FILTER = bytes([1, 0, 0, UNSET]) + bytes(40)
SHARD_SEED = 0x243F6A8885A308D3

NAMES = dict(enumerate((
    'integer', 'boolean', '"char"', 'text', 'bytea', 'bit', 'double precision', 'numeric', 'money',
    'uuid', 'date', 'time', 'timetz', 'timestamp', 'timestamptz', 'interval', 'inet', 'macaddr',
    'macaddr8', 'pg_lsn', 'xid8', 'enum', 'jsonb', 'array', 'composite', 'range', 'multirange'), 1))
NUMBERS = {name: number for number, name in NAMES.items()}
OF_ONE = 'array', 'range', 'multirange'
FIRST_WITH_PARTS = NUMBERS['array']


class FormatError(ValueError):
    """These bytes are no filter of a version known here."""


class KeyTypeError(ValueError):
    """The key is not of the type of those of the filter, or of no key type."""


# ----------------------------------------------------------------- key types
#
# A key type is a name; a pair of 'array', 'range' or 'multirange' and the type
# of the elements or bounds; a pair of 'composite' and the types of the columns;
# or 'record', for an anonymous record whose columns its value names.

def number_of(key_type):
    """The number of a key type."""
    if key_type == 'record':
        return NUMBERS['composite']
    if isinstance(key_type, str):
        if NUMBERS.get(key_type, FIRST_WITH_PARTS) < FIRST_WITH_PARTS:
            return NUMBERS[key_type]
    elif key_type[0] in OF_ONE or key_type[0] == 'composite':
        return NUMBERS[key_type[0]]
    raise KeyTypeError('no key type: %s' % (key_type,))


def description(key_type, value=None):
    """What the signature of a key type is the hash of.

    The value of the key, in the form of the functions below, says what its
    anonymous records are.
    """
    number = bytes([number_of(key_type)])
    if key_type == 'record':
        if value is None:
            return number + b'\xff\xff'
        key_type, value = ('composite', tuple(of for of, _ in value)), [each for _, each in value]
    if isinstance(key_type, str):
        return number
    if key_type[0] == 'composite':
        columns = key_type[1]
        return number + struct.pack('<H', len(columns)) + b''.join(
            map(description, columns, value or [None] * len(columns)))
    if key_type[0] == 'array' and value is not None:
        elements = value['elements'] if isinstance(value, dict) else value
        value = next((element for element in elements if element is not None), None)
        return number + description(key_type[1], value)
    return number + description(key_type[1])


def signature(key_type, value=None):
    """The signature of the key types inside one; 0 for a scalar one."""
    if number_of(key_type) < FIRST_WITH_PARTS:
        return 0
    return (xxh3_64_intdigest(description(key_type, value), 0) & 0xFFFFFFFF) or 1


def type_name(key_type):
    if isinstance(key_type, str):
        return key_type
    if key_type[0] == 'composite':
        return '(%s)' % ', '.join(map(type_name, key_type[1]))
    return '%s of %s' % (key_type[0], type_name(key_type[1]))


# ---------------------------------------------------------------------- keys

def sized(data):
    return struct.pack('<I', len(data)) + data


def text(value):
    return value.encode()


def packed(layout):
    return lambda value: struct.pack(layout, value)


def boolean(value):
    return bytes([(False, True).index(value)])


def char(value):
    """A "char", as one character of ASCII or as bytes."""
    data = value if isinstance(value, bytes) else value.encode()
    if len(data) != 1:
        raise ValueError('not one byte: %r' % value)
    return data


def bytea(value):
    """Bytes, or a string of hexadecimal digits."""
    return value if isinstance(value, bytes) else bytes.fromhex(value)


def bit(value):
    """A string of 0 and 1."""
    length = -(-len(value) // 8)
    return struct.pack('<I', len(value)) + int('0' + value.ljust(8 * length, '0'), 2).to_bytes(length, 'big')


def double(value):
    number = float(value)
    if math.isnan(number):
        return struct.pack('<Q', 0x7FF8000000000000)
    return struct.pack('<d', number or 0.0)


def numeric(value):
    """A Decimal, or what makes one: '-1.5', 'NaN', 'Infinity', 3."""
    number = Decimal(repr(value) if isinstance(value, float) else value)
    if number.is_nan():
        return struct.pack('<Hh', 0xC000, 0)
    if number.is_infinite():
        return struct.pack('<Hh', 0xF000 if number < 0 else 0xD000, 0)
    if not number:
        return struct.pack('<Hh', 0, 0)
    sign, decimals, exponent = number.as_tuple()
    decimals = ''.join(map(str, decimals)).lstrip('0') + '0' * (exponent % 4)
    decimals = decimals.zfill(len(decimals) + -len(decimals) % 4)
    digits = [int(decimals[i:i + 4]) for i in range(0, len(decimals), 4)]
    weight = exponent // 4 + len(digits) - 1
    while digits[-1] == 0:
        digits.pop()
    return struct.pack('<Hh%dh' % len(digits), 0x4000 if sign else 0, weight, *digits)


def timetz(value):
    """Microseconds since midnight, and seconds west of UTC."""
    return struct.pack('<qi', *value)


def interval(value):
    """Months, days and microseconds."""
    months, days, microseconds = value
    more, rest = divmod(microseconds, 86400000000)
    return struct.pack('<qq', 30 * months + days + more, rest)


def inet(value):
    interface = ip_interface(value)
    return bytes([interface.version, interface.network.prefixlen]) + interface.ip.packed


def macaddr(value):
    return bytes.fromhex(value.replace(':', ''))


def jsonb(value):
    """JSON as text."""
    return jsonb_value(json.loads(value, parse_int=Decimal, parse_float=Decimal))


def jsonb_value(value):
    for tag, constant in enumerate((None, False, True)):
        if value is constant:
            return bytes([tag])
    if isinstance(value, Decimal):
        return b'\3' + sized(numeric(value))
    if isinstance(value, str):
        return b'\4' + sized(text(value))
    if isinstance(value, list):
        return b'\5' + struct.pack('<I', len(value)) + b''.join(map(jsonb_value, value))
    if isinstance(value, dict):
        pairs = sorted(((text(key), of) for key, of in value.items()),
                       key=lambda pair: (len(pair[0]), pair[0]))
        return b'\6' + struct.pack('<I', len(pairs)) + b''.join(
            sized(key) + jsonb_value(of) for key, of in pairs)
    raise ValueError('not in JSON: %r' % value)


def nested(key_type, value):
    return b'\xff\xff\xff\xff' if value is None else sized(canonical(key_type, value))


def array(element, value):
    """A list, or {'bounds': [[length, lower bound], ...], 'elements': list}."""
    if not isinstance(value, dict):
        value = {'bounds': [[len(value), 1]] if value else [], 'elements': value}
    bounds, elements = value['bounds'], value['elements']
    if len(elements) != (math.prod(length for length, _ in bounds) if bounds else 0):
        raise ValueError('wrong number of elements')
    return (struct.pack('<BI', number_of(element), len(bounds)) +
            b''.join(struct.pack('<ii', *bound) for bound in bounds) +
            b''.join(nested(element, each) for each in elements))


def composite(columns, value):
    """A list of the columns' values."""
    if len(columns) != len(value):
        raise ValueError('wrong number of columns')
    return struct.pack('<I', len(columns)) + b''.join(
        bytes([number_of(column)]) + nested(column, each) for column, each in zip(columns, value))


def record(value):
    """A list of pairs: key type and value."""
    return composite([column for column, _ in value], [each for _, each in value])


def one_range(bound, value):
    """'empty', or lower and upper bound (None: there is none) and brackets.

    Ranges of a discrete type are expected in their canonical form, [).
    """
    if value == 'empty':
        return b'\1'
    lower, upper, (left, right) = value
    if left not in '[(' or right not in ')]':
        raise ValueError('no brackets of a range: %s%s' % (left, right))
    flags = (2 if lower is None else 4 if left == '[' else 0) + (
        8 if upper is None else 16 if right == ']' else 0)
    return bytes([flags]) + b''.join(nested(bound, each) for each in (lower, upper) if each is not None)


def range_(bound, value):
    return bytes([number_of(bound)]) + one_range(bound, value)


def multirange(bound, value):
    """A list of ranges, in order and merged."""
    return struct.pack('<BI', number_of(bound), len(value)) + b''.join(
        one_range(bound, each) for each in value)


CANONICAL = dict(zip(NUMBERS, (
    packed('<q'), boolean, char, text, bytea, bit, double, numeric, packed('<q'),
    lambda value: UUID(value).bytes, packed('<i'), packed('<q'), timetz, packed('<q'), packed('<q'),
    interval, inet, macaddr, macaddr, packed('<Q'), packed('<Q'), text, jsonb,
    array, composite, range_, multirange)), record=record)


def canonical(key_type, value):
    """The canonical bytes of a key."""
    number_of(key_type)
    if isinstance(key_type, str):
        return CANONICAL[key_type](value)
    return CANONICAL[key_type[0]](key_type[1], value)


def hash_key(key_type, value, seed=0):
    """The hash of a key, as an unsigned number of 64 bits."""
    return xxh3_64_intdigest(canonical(key_type, value),
                             (seed + number_of(key_type) * 0x9E3779B97F4A7C15) % 2**64)


def shard(key_type, value, shards):
    """What cuckoo_shard() returns."""
    return (hash_key(key_type, value, SHARD_SEED) >> 32) * shards >> 32


# -------------------------------------------------------------------- shapes

class Shape:
    """The geometry of a table: from a hash to a class and its buckets."""

    def __init__(self, blocks, buckets, bits):
        self.blocks = blocks
        self.buckets = buckets          # per block
        self.bits = bits                # of a fingerprint
        self.all_buckets = blocks * buckets
        self.pairs = self.all_buckets // 2
        self.fingerprints = 2**bits - 1
        self.codes = self.pairs << bits

    def key(self):
        """What the tables of a filter are ordered by."""
        return self.all_buckets, self.bits, self.blocks

    def possible(self):
        return (self.blocks >= 1 and 2 <= self.buckets <= 32768 and self.buckets % 2 == 0 and
                self.all_buckets <= MAX_BUCKETS and 5 <= self.bits <= 32)

    def code(self, key_hash):
        """The code of the class of a hash."""
        pair, rest = divmod(key_hash * self.pairs >> 32, 2**32)
        return (pair << self.bits) + 1 + (rest * self.fingerprints >> 32)

    def bucket_sum(self, fingerprint):
        h = fingerprint
        h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
        h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
        h ^= h >> 16
        return h * self.buckets >> 32 | 1

    def place(self, code):
        """The numbers of the even and the odd bucket of a class, and its fingerprint."""
        fingerprint = code & self.fingerprints
        block, pair = divmod(code >> self.bits, self.buckets // 2)
        odd = (self.bucket_sum(fingerprint) - 2 * pair) % self.buckets
        return block * self.buckets + 2 * pair, block * self.buckets + odd, fingerprint

    def code_at(self, bucket, fingerprint):
        """The code of the class that a fingerprint in a bucket belongs to."""
        block, even = divmod(bucket, self.buckets)
        if even % 2:
            even = (self.bucket_sum(fingerprint) - even) % self.buckets
        return (block * self.buckets + even) // 2 * 2**self.bits + fingerprint

    def rate_log(self, items):
        """The logarithm of the probability that an absent key is reported absent."""
        return 8 * items / (4 * self.all_buckets) * math.log1p(-1 / self.fingerprints)

    def capacity(self):
        entries = 4 * self.all_buckets
        return 193 * entries // 200 if self.all_buckets >= 2592 else 383 * entries // 400


def bits_for(fpr):
    """The bits of a fingerprint that a target rate asks for."""
    return next(bits for bits in range(5, 33) if fpr * (2**bits - 1) >= 7.72)


def shape_for(keys, bits):
    """The shape that PostgreSQL chooses for so many keys."""
    if keys >= 10000:
        buckets = -(-50 * keys // 193)
    else:
        buckets = 100 * keys // 383 + (1 if keys >= 5000 else 5)
    blocks = -(-buckets // 32768)
    buckets = -(-buckets // blocks)
    return Shape(blocks, buckets + buckets % 2, bits)


def first_shape(fpr, capacity):
    """The shape of the first table of a filter that PostgreSQL makes."""
    if capacity == 0:
        return shape_for(2**20, bits_for(fpr) + 1)
    return shape_for(capacity, bits_for(fpr))


# -------------------------------------------------------------------- tables

class SparseTable:
    """The sorted codes of a shape's classes, in Elias-Fano form."""

    representation = SPARSE

    def __init__(self, shape, items):
        self.shape = shape
        self.items = items
        self.low_bits = 0
        while 2 * self._highs() > 3 * max(items, 1):
            self.low_bits += 1
        self.highs = self._highs()
        self.groups = -(-self.highs // 64)
        self.end = self.highs + items * (1 + self.low_bits)
        self.data = b''

    def _highs(self):
        return (self.shape.codes - 1 >> self.low_bits) + 1

    def size(self):
        return 4 * (self.groups + 1) + (self.end + 7) // 8

    def _start(self, group):
        return int.from_bytes(self.data[4 * group:4 * group + 4], 'little')

    def _bits(self, begin, width):
        """A number of so many bits."""
        at = 4 * (self.groups + 1)
        number = int.from_bytes(self.data[at + begin // 8:at + (begin + width + 7) // 8], 'little')
        return (number >> begin % 8) & ((1 << width) - 1)

    def _group(self, group):
        """The upper part of a group, lowest bit first, and its low parts."""
        start = self._start(group)
        count = self._start(group + 1) - start
        base = 64 * group + start * (1 + self.low_bits)
        width = min(64, self.highs - 64 * group) + count
        lows = self._bits(base + width, count * self.low_bits)
        mask = (1 << self.low_bits) - 1
        return (format(self._bits(base, width), '0%db' % width)[::-1],
                [(lows >> self.low_bits * i) & mask for i in range(count)])

    def _codes_in(self, group):
        upper, lows = self._group(group)
        high = 64 * group
        lows = iter(lows)
        for bit_ in upper:
            if bit_ == '1':
                yield high << self.low_bits | next(lows)
            else:
                high += 1

    def codes(self):
        """All codes, in ascending order."""
        for group in range(self.groups):
            yield from self._codes_in(group)

    def count_code(self, code):
        """Copies of a code, as the page says it step by step."""
        high, low = code >> self.low_bits, code & ((1 << self.low_bits) - 1)
        upper, lows = self._group(high // 64)
        at = 0
        for _ in range(high % 64):
            at = upper.index('0', at) + 1
        before = at - high % 64
        run = upper.index('0', at) - at
        return lows[before:before + run].count(low)

    def check(self):
        if self._start(0) != 0:
            raise FormatError('the first start is not 0')
        last = copies = 0
        for group in range(self.groups):
            if not self._start(group) <= self._start(group + 1) <= self.items:
                raise FormatError('the starts are out of order')
            upper, lows = self._group(group)
            if upper.count('1') != len(lows) or upper[-1] != '0':
                raise FormatError('group %d is damaged' % group)
            for code in self._codes_in(group):
                copies = copies + 1 if code == last else 1
                if (code < last or copies > MAX_COPIES or code >= self.shape.codes or
                        code & self.shape.fingerprints == 0):
                    raise FormatError('an impossible code in group %d' % group)
                last = code
        if self._start(self.groups) != self.items:
            raise FormatError('a table has %d items, not %d' % (self._start(self.groups), self.items))
        if self._bits(self.end, -self.end % 8) != 0:
            raise FormatError('the bits behind the last group are not 0')

    @classmethod
    def build(cls, shape, codes):
        """The table of these codes, in any order; copies beyond the eighth are left out."""
        codes = [code for _, same in groupby(sorted(codes)) for code in list(same)[:MAX_COPIES]]
        table = cls(shape, len(codes))
        mask = (1 << table.low_bits) - 1
        starts, bits = [0], []
        at = 0
        for group in range(table.groups):
            begin = at
            for high in range(64 * group, min(64 * group + 64, table.highs)):
                while at < len(codes) and codes[at] >> table.low_bits == high:
                    bits.append('1')
                    at += 1
                bits.append('0')
            starts.append(at)
            bits.extend(format(code & mask, '0%db' % table.low_bits)[::-1]
                        for code in codes[begin:at] if table.low_bits)
        string = ''.join(bits)
        table.data = struct.pack('<%dI' % len(starts), *starts) + int(string[::-1], 2).to_bytes(
            (len(string) + 7) // 8, 'little')
        return table


def rank_of(nibbles):
    """The number of four nibbles in ascending order."""
    return sum(math.comb(nibble + i, i + 1) for i, nibble in enumerate(nibbles))


NIBBLES = sorted(combinations_with_replacement(range(16), 4), key=rank_of)


class DenseTable:
    """Buckets of four fingerprints."""

    representation = DENSE

    def __init__(self, shape, items):
        self.shape = shape
        self.items = items
        self.width = shape.bits - 1     # of a bucket, in units of four bits
        self.data = b''

    def size(self):
        return self.shape.all_buckets * self.width // 2

    @staticmethod
    def order(entry):
        """What the entries of a bucket are sorted by."""
        return entry & 15, entry >> 4

    def entries(self, number):
        """The four entries of a bucket."""
        begin, odd = divmod(self.width * number, 2)
        bucket = int.from_bytes(self.data[begin:begin + self.width // 2 + 1], 'little') >> 4 * odd
        bucket &= (1 << 4 * self.width) - 1
        high = self.shape.bits - 4
        if bucket & 4095 >= len(NIBBLES):
            raise FormatError('a bucket has rank %d' % (bucket & 4095))
        return [(bucket >> 12 + high * i & (1 << high) - 1) << 4 | nibble
                for i, nibble in enumerate(NIBBLES[bucket & 4095])]

    def codes(self):
        """All codes, in ascending order."""
        yield from sorted(self.shape.code_at(bucket, entry)
                          for bucket in range(self.shape.all_buckets)
                          for entry in self.entries(bucket) if entry)

    def count_code(self, code):
        """Copies of a code."""
        even, odd, fingerprint = self.shape.place(code)
        return (self.entries(even) + self.entries(odd)).count(fingerprint)

    def check(self):
        filled = 0
        for number in range(self.shape.all_buckets):
            entries = self.entries(number)
            if entries != sorted(entries, key=self.order):
                raise FormatError('bucket %d is not in order' % number)
            filled += 4 - entries.count(0)
        if filled != self.items:
            raise FormatError('a table has %d items, not %d' % (filled, self.items))

    @classmethod
    def build(cls, shape, codes):
        """A table of these codes; None if they do not simply find room."""
        table = cls(shape, 0)
        content = [[] for _ in range(shape.all_buckets)]
        for code in codes:
            even, odd, fingerprint = shape.place(code)
            bucket = min(content[even], content[odd], key=len)
            if len(bucket) == 4:
                return None
            bucket.append(fingerprint)
            table.items += 1
        number = 0
        for bucket in reversed(content):
            entries = sorted(bucket + [0] * (4 - len(bucket)), key=cls.order)
            packed_ = rank_of([entry & 15 for entry in entries]) + sum(
                (entry >> 4) << 12 + (shape.bits - 4) * i for i, entry in enumerate(entries))
            number = number << 4 * table.width | packed_
        table.data = number.to_bytes(table.size(), 'little')
        return table


# ------------------------------------------------------------------- filters

class Filter:
    """A filter, of its bytes; raises FormatError if they are none."""

    def __init__(self, data):
        self.tables = []
        self.hashes = ()
        if not data or data[0] != 1:
            raise FormatError('not version 1 of the format')
        if not HEADER_BYTES + TAIL_BYTES <= len(data) <= MAX_BYTES:
            raise FormatError('wrong length')
        self.bytes = len(data)
        (_, self.content, self.key_number, self.flags, self.signature, self.fpr, self.capacity,
         self.seed, count, *zeros) = struct.unpack_from('<4BId2Q4B', data)
        if self.flags & UNSET:
            if data != UNSET_FILTER:
                raise FormatError('an unset filter with something in it')
            return
        self._check_header(count, zeros)
        if any(data[-TAIL_BYTES:]):
            raise FormatError('the last bytes are not 0')
        if self.content == PARTIAL:
            self._read_hashes(data)
        else:
            self._read_tables(memoryview(data), count)

    def _check_header(self, count, zeros):
        if self.content > PARTIAL or self.flags > 3 or any(zeros):
            raise FormatError('unknown fields in the header')
        if self.content == PARTIAL and (self.flags or self.key_number == 0):
            raise FormatError('a partial state that can be none')
        if (self.key_number not in NAMES and self.key_number != 0 or
                (self.key_number >= FIRST_WITH_PARTS) != (self.signature != 0)):
            raise FormatError('wrong key type')
        if not 2e-8 <= self.fpr <= 0.1 or self.capacity > MAX_CAPACITY:
            raise FormatError('rate or capacity out of range')
        if not (count == 0 if self.content == PARTIAL else 1 <= count <= MAX_TABLES):
            raise FormatError('wrong number of tables')

    def _read_hashes(self, data):
        length = len(data) - HEADER_BYTES - TAIL_BYTES
        if length % 8:
            raise FormatError('wrong length')
        self.hashes = struct.unpack_from('<%dQ' % (length // 8), data, HEADER_BYTES)
        if any(a >= b for a, b in zip(self.hashes, self.hashes[1:])):
            raise FormatError('hashes out of order')

    def _read_tables(self, data, count):
        at = HEADER_BYTES + DIRECTORY_BYTES * count
        if len(data) < at + TAIL_BYTES:
            raise FormatError('wrong length')
        for number in range(count):
            blocks, items, buckets, bits, representation = struct.unpack_from(
                '<IIHBB', data, HEADER_BYTES + DIRECTORY_BYTES * number)
            shape = Shape(blocks, buckets, bits)
            if (not shape.possible() or representation > DENSE or
                    (representation == DENSE and items > 4 * shape.all_buckets) or
                    (items and self.key_number == 0)):
                raise FormatError('impossible table')
            if self.tables and self.tables[-1].shape.key() >= shape.key():
                raise FormatError('tables out of order')
            self.tables.append((SparseTable, DenseTable)[representation](shape, items))
        if len(data) != at + sum(table.size() for table in self.tables) + TAIL_BYTES:
            raise FormatError('wrong length')
        for table in self.tables:
            table.data = data[at:at + table.size()]
            at += table.size()
            table.check()

    def items(self):
        return len(self.hashes) + sum(table.items for table in self.tables)

    def removable(self):
        return not self.flags & NOT_REMOVABLE

    def key_type(self):
        """The name of the key type; None if there has not been a key."""
        return NAMES.get(self.key_number)

    def representation(self):
        """As cuckoo_info() has it; None for an unset filter."""
        if self.content == PARTIAL:
            return 'partial'
        kinds = {table.representation for table in self.tables}
        return 'mixed' if len(kinds) > 1 else ('sparse', 'dense')[kinds.pop()] if kinds else None

    def rate(self):
        """The rate of false positives to expect."""
        return -math.expm1(sum(table.shape.rate_log(table.items) for table in self.tables)) or 0.0

    def classes(self):
        """For each table, a dict of the copies of each code."""
        result = []
        for table in self.tables:
            result.append({code: len(list(same)) for code, same in groupby(table.codes())})
        return result

    def count_hash(self, key_hash):
        """How many copies of a hash there are, 0 to 8; 8 is eight or more."""
        if self.content == PARTIAL:
            raise FormatError('keys cannot be looked up in a partial state')
        return min(MAX_COPIES, sum(table.count_code(table.shape.code(key_hash))
                                   for table in self.tables))

    def count(self, key_type, value):
        """How many copies of a key there are, 0 to 8; 8 is eight or more."""
        if self.key_number == 0:
            return 0
        if (self.key_number, self.signature) != (number_of(key_type), signature(key_type, value)):
            raise KeyTypeError('the filter has keys of another type')
        return self.count_hash(hash_key(key_type, value, self.seed))

    def contains(self, key_type, value):
        return self.count(key_type, value) > 0


def header(content, flags, key_type, fpr, capacity, seed, count):
    return struct.pack('<4BId2QB3x', 1, content, number_of(key_type) if key_type else 0, flags,
                       signature(key_type) if key_type else 0, fpr, capacity, seed, count)


def write(tables, key_type, fpr, capacity=0, seed=0, flags=0):
    """The bytes of a filter of these tables."""
    tables = sorted(tables, key=lambda table: table.shape.key())
    return (header(TABLES, flags, key_type, fpr, capacity, seed, len(tables)) +
            b''.join(struct.pack('<IIHBB', table.shape.blocks, table.items, table.shape.buckets,
                                 table.shape.bits, table.representation) for table in tables) +
            b''.join(bytes(table.data) for table in tables) + bytes(TAIL_BYTES))


def write_keys(key_type, keys, fpr, capacity=0, seed=0):
    """A filter of these keys, in a sparse table of the size that PostgreSQL chooses."""
    hashes = {hash_key(key_type, key, seed) for key in keys}
    if len(hashes) > (capacity or 1024):
        capacity = len(hashes)
    shape = first_shape(fpr, capacity)
    return write([SparseTable.build(shape, map(shape.code, hashes))], key_type if hashes else None, fpr,
                 capacity, seed)


def write_partial(key_type, hashes, fpr, capacity=0, seed=0):
    """A partial state of these hashes."""
    hashes = sorted(set(hashes))
    return (header(PARTIAL, 0, key_type, fpr, capacity, seed, 0) +
            struct.pack('<%dQ' % len(hashes), *hashes) + bytes(TAIL_BYTES))


# -------------------------------------------------------------- command line

def parse_type(name):
    """A key type, from words like 'array of (integer, text)'."""
    tokens = re.findall(r'[(),]|\bof\b|"char"|[a-z_0-9]+(?: precision)?', name)

    def one():
        token = tokens.pop(0)
        if token == '(':
            columns = []
            while tokens[0] != ')':
                columns.append(one())
                if tokens[0] == ',':
                    tokens.pop(0)
            tokens.pop(0)
            return 'composite', tuple(columns)
        if tokens and tokens[0] == 'of':
            tokens.pop(0)
            return token, one()
        return '"char"' if token == 'char' else token

    try:
        key_type = one()
    except IndexError:
        tokens.append('')
    if tokens:
        raise KeyTypeError('no key type: %s' % name)
    signature(key_type)
    return key_type


def parse_key(key_type, key):
    """A key in JSON; jsonb stays text."""
    try:
        value = json.loads(key, parse_float=Decimal)
    except json.JSONDecodeError:
        value, key = key, json.dumps(key)
    return key if key_type == 'jsonb' else value


def read(name):
    """A filter, from a file."""
    if name == '-':
        data = sys.stdin.buffer.read()
    else:
        with open(name, 'rb') as file:
            data = file.read()
    if data[:1] == b'A':
        try:
            data = b64decode(b''.join(data.split()), validate=True)
        except binascii.Error as error:
            raise FormatError(error) from None
    return Filter(data)


def describe(of):
    print('%s, %d items, key type %s, %d bytes, %sremovable' % (
        of.representation() or 'unset', of.items(), of.key_type() or 'none yet', of.bytes,
        '' if of.removable() else 'not '))
    print('target rate %g, expected rate %g, capacity %s, seed %d' % (
        of.fpr, of.rate(), of.capacity or 'unknown', of.seed - (of.seed >> 63 << 64)))
    for table in of.tables:
        print('table: %s, %d blocks of %d buckets, %d bits, %d items, %d bytes' % (
            ('sparse', 'dense')[table.representation], table.shape.blocks, table.shape.buckets,
            table.shape.bits, table.items, table.size()))


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ('-h', '--help'):
        sys.exit(__doc__)
    try:
        of = read(sys.argv[1])
        describe(of)
        key_type = parse_type(sys.argv[2]) if len(sys.argv) > 2 else None
    except (FormatError, KeyTypeError, OSError) as error:
        sys.exit('reader.py: %s' % error)
    for key in sys.argv[3:]:
        try:
            print('%s: %d' % (key, of.count(key_type, parse_key(key_type, key))))
        except (FormatError, KeyTypeError) as error:
            sys.exit('reader.py: %s' % error)
        except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, struct.error) as error:
            sys.exit('reader.py: %s is no key of type %s: %s' % (key, type_name(key_type), error))


if __name__ == '__main__':
    main()
