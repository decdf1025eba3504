#!/usr/bin/python3
"""Reads a cuckoofilter without PostgreSQL, as docs/format.md describes it.

    reader.py FILE [KIND KEY...]

FILE has the filter's bytes or their base64 text; - is standard input.  Prints
what the filter is, and of each key its count, 0 to 8.  KIND is one like text,
"array of integer" or "range of date".  Keys are in JSON, in the forms that the
functions below take; of a plain word the quotes may be left out.

Needs python3-xxhash.
"""

import binascii
import json
import math
import struct
import sys
from base64 import b64decode
from bisect import bisect_left, bisect_right
from decimal import Decimal
from ipaddress import ip_interface
from itertools import combinations_with_replacement
from uuid import UUID

from xxhash import xxh3_64_intdigest

HEADER_BYTES = 40
DIRECTORY_BYTES = 16
END_BYTES = 8
MAX_BYTES = 786432000
LIST, TABLES, PARTIAL = range(3)
PLAIN, NOT_REMOVABLE, UNSET = 1, 2, 4
UNSET_FILTER = bytes([1, 0, 0, 0, UNSET]) + bytes(35)
MAX_COUNT = 8

KINDS = {name: number for number, name in enumerate((
    'integer', 'boolean', '"char"', 'text', 'bytea', 'bit', 'double precision', 'numeric', 'money',
    'uuid', 'date', 'time', 'timetz', 'timestamp', 'timestamptz', 'interval', 'inet', 'macaddr',
    'macaddr8', 'pg_lsn', 'xid8', 'enum', 'jsonb', 'array', 'composite', 'range', 'multirange'), 1)}
NAMES = {number: name for name, number in KINDS.items()}
OF_ELEMENTS = 'array', 'range', 'multirange'


class FormatError(ValueError):
    """These bytes are no filter of a version known here."""


class KindError(ValueError):
    """The key is of another kind than those of the filter, or of no kind."""


# ---------------------------------------------------------------------- keys

def kind_numbers(kind):
    """The numbers of a kind and of its elements, as the header has them.

    A kind is a name or, for array, range and multirange, a pair of the name
    and the kind of the elements or bounds.
    """
    name, element = (kind, None) if isinstance(kind, str) else kind
    if name not in KINDS or (name in OF_ELEMENTS) != (element is not None):
        raise KindError('no kind of keys: %s' % (kind,))
    return KINDS[name], kind_numbers(element)[0] if element else 0


def sized(data):
    return struct.pack('<I', len(data)) + data


def nested(kind, value):
    return b'\xff\xff\xff\xff' if value is None else sized(canonical(kind, value))


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


def array(element, value):
    """A list, or {'bounds': [[length, lower bound], ...], 'elements': list}."""
    if not isinstance(value, dict):
        value = {'bounds': [[len(value), 1]] if value else [], 'elements': value}
    bounds, elements = value['bounds'], value['elements']
    if len(elements) != (math.prod(length for length, _ in bounds) if bounds else 0):
        raise ValueError('wrong number of elements')
    return (struct.pack('<BI', kind_numbers(element)[0], len(bounds)) +
            b''.join(struct.pack('<ii', *bound) for bound in bounds) +
            b''.join(nested(element, each) for each in elements))


def composite(value):
    """A list of pairs: kind and value."""
    return struct.pack('<I', len(value)) + b''.join(
        bytes([kind_numbers(kind)[0]]) + nested(kind, each) for kind, each in value)


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
    return bytes([kind_numbers(bound)[0]]) + one_range(bound, value)


def multirange(bound, value):
    """A list of ranges, in order and merged."""
    return struct.pack('<BI', kind_numbers(bound)[0], len(value)) + b''.join(
        one_range(bound, each) for each in value)


CANONICAL = dict(zip(KINDS, (
    packed('<q'), boolean, char, text, bytea, bit, double, numeric, packed('<q'),
    lambda value: UUID(value).bytes, packed('<i'), packed('<q'), timetz, packed('<q'), packed('<q'),
    interval, inet, macaddr, macaddr, packed('<Q'), packed('<Q'), text, jsonb,
    array, composite, range_, multirange)))


def canonical(kind, value):
    """The canonical bytes of a key."""
    kind_numbers(kind)
    return CANONICAL[kind](value) if isinstance(kind, str) else CANONICAL[kind[0]](kind[1], value)


def hash_key(kind, value, seed=0):
    """The hash of a key, as an unsigned number of 64 bits."""
    number = kind_numbers(kind)[0]
    return xxh3_64_intdigest(canonical(kind, value), (seed + number * 0x9E3779B97F4A7C15) % 2**64)


def shard(kind, value, shards):
    """What cuckoo_shard() returns."""
    return ((hash_key(kind, value, 0x243F6A8885A308D3) >> 32) * shards) >> 32


# -------------------------------------------------------------------- tables

def code_of(nibbles):
    """The number of four nibbles in ascending order."""
    return sum(math.comb(nibble + i, i + 1) for i, nibble in enumerate(nibbles))


NIBBLES = sorted(combinations_with_replacement(range(16), 4), key=code_of)


class Table:
    def __init__(self, blocks, buckets, bits, stash, plain, items=0, data=b''):
        self.blocks = blocks
        self.buckets = buckets          # of a block
        self.bits = bits                # of a fingerprint
        self.stash = stash
        self.plain = plain
        self.items = items
        self.data = data
        self.width = bits if plain else bits - 1

    def size(self):
        return self.blocks * self.buckets * self.width // 2

    def rate(self):
        """The rate of false positives to expect."""
        entries = 4 * self.blocks * self.buckets
        return -math.expm1(8 * self.items / entries * math.log1p(-1 / (2**self.bits - 1)))

    def order(self, entry):
        """What the entries of a bucket are sorted by."""
        return entry if self.plain else (entry & 15, entry >> 4)

    def entries(self, number):
        """The four entries of a bucket."""
        begin, nibble = divmod(self.width * number, 2)
        bucket = int.from_bytes(self.data[begin:begin + self.width // 2 + 1], 'little') >> 4 * nibble
        bucket &= (1 << 4 * self.width) - 1
        if self.plain:
            return [bucket >> self.bits * k & (1 << self.bits) - 1 for k in range(4)]
        high = self.bits - 4
        if bucket & 4095 >= len(NIBBLES):
            raise FormatError('a bucket has code %d' % (bucket & 4095))
        return [(bucket >> 12 + high * k & (1 << high) - 1) << 4 | nibble
                for k, nibble in enumerate(NIBBLES[bucket & 4095])]

    def check_fields(self):
        if not (1 <= self.blocks <= 196608000 and 2 <= self.buckets <= 32768 and
                self.buckets % 2 == 0 and self.blocks * self.buckets <= 393216000 and
                5 <= self.bits <= 32 and self.items <= 4 * self.blocks * self.buckets):
            raise FormatError('a table has an impossible shape')

    def check_buckets(self):
        filled = 0
        for number in range(self.blocks * self.buckets):
            entries = self.entries(number)
            if entries != sorted(entries, key=self.order):
                raise FormatError('a bucket is not in order')
            filled += 4 - entries.count(0)
        if filled != self.items:
            raise FormatError('a table has %d items, not %d' % (filled, self.items))

    def place(self, key_hash):
        """The two buckets and the fingerprint of a hash."""
        high, low = key_hash >> 32, key_hash & 0xFFFFFFFF
        block, rest = divmod(high * self.blocks, 2**32)
        first = rest * self.buckets >> 32
        fingerprint = 1 + (low * (2**self.bits - 1) >> 32)
        h = fingerprint
        h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
        h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
        h ^= h >> 16
        second = ((h * self.buckets >> 32 | 1) - first) % self.buckets
        return block * self.buckets + first, block * self.buckets + second, fingerprint

    def count_hash(self, key_hash):
        first, second, fingerprint = self.place(key_hash)
        count = (self.entries(first) + self.entries(second)).count(fingerprint)
        return MAX_COUNT if count and self.stash else count


# ------------------------------------------------------------------- filters

class Filter:
    """A filter, of its bytes; raises FormatError if they are none."""

    def __init__(self, data):
        self.tables = []
        self.hashes = ()
        if not data or data[0] != 1:
            raise FormatError('not version 1 of the format')
        if len(data) < HEADER_BYTES or len(data) > MAX_BYTES:
            raise FormatError('wrong length')
        (_, self.body, self.kind_number, self.element_number, self.flags, tables, partial, zero,
         self.fpr, self.capacity, self.seed, self.items) = struct.unpack_from('<8Bd3Q', data)
        if self.flags & UNSET:
            if data != UNSET_FILTER:
                raise FormatError('an unset filter with something in it')
            return
        self._check_header(tables, partial, zero)
        if self.body == TABLES:
            self._read_tables(memoryview(data), tables)
        else:
            self._read_hashes(data)

    def _check_header(self, tables, partial, zero):
        if (self.body > PARTIAL or self.flags > 7 or zero or partial != (self.body == PARTIAL) or
                not (1 <= tables <= 16 if self.body == TABLES else tables == 0)):
            raise FormatError('unknown fields in the header')
        if self.body != TABLES and self.flags & NOT_REMOVABLE:
            raise FormatError('hashes that are not removable')
        if (max(self.kind_number, self.element_number) > len(KINDS) or
                (self.kind_number == 0 and self.items) or
                (NAMES.get(self.kind_number) in OF_ELEMENTS) != (self.element_number != 0)):
            raise FormatError('wrong kind of keys')
        if not 2e-9 <= self.fpr <= 0.1 or self.capacity > 2**40:
            raise FormatError('rate or capacity out of range')

    def _read_hashes(self, data):
        if len(data) != HEADER_BYTES + 8 * self.items:
            raise FormatError('wrong length')
        copies = MAX_COUNT if self.body == LIST else 1
        if self.body == LIST and self.items > (32 if self.capacity else 1024):
            raise FormatError('too many hashes')
        self.hashes = struct.unpack_from('<%dQ' % self.items, data, HEADER_BYTES)
        if (any(a > b for a, b in zip(self.hashes, self.hashes[1:])) or
                any(a == b for a, b in zip(self.hashes, self.hashes[copies:]))):
            raise FormatError('hashes out of order, or too often')

    def _read_tables(self, data, tables):
        at = HEADER_BYTES + DIRECTORY_BYTES * tables
        if len(data) < at:
            raise FormatError('wrong length')
        for number in range(tables):
            blocks, buckets, bits, stash, items = struct.unpack_from(
                '<IHBBQ', data, HEADER_BYTES + DIRECTORY_BYTES * number)
            if stash > (number > 0):
                raise FormatError('a stash that can be none')
            table = Table(blocks, buckets, bits, stash, bool(self.flags & PLAIN), items)
            table.check_fields()
            table.data = data[at:at + table.size()]
            at += table.size()
            self.tables.append(table)
        if len(data) != at + END_BYTES or any(data[at:]):
            raise FormatError('wrong length, or end')
        if sum(table.items for table in self.tables) != self.items:
            raise FormatError('the items of the tables do not add up')
        for table in self.tables:
            table.check_buckets()

    def kind(self):
        """The kind of the keys; None if there has not been one."""
        if not self.element_number:
            return NAMES.get(self.kind_number)
        return NAMES[self.kind_number], NAMES[self.element_number]

    def rate(self):
        """The rate of false positives to expect."""
        if not self.tables:
            return self.items / 2**64
        return -math.expm1(sum(math.log1p(-table.rate()) for table in self.tables)) or 0.0

    def count_hash(self, key_hash):
        """How many copies of a hash there are, 0 to 8; 8 is eight or more."""
        if self.body == PARTIAL:
            raise FormatError('a partial state cannot be asked')
        if self.body == LIST:
            return bisect_right(self.hashes, key_hash) - bisect_left(self.hashes, key_hash)
        return min(MAX_COUNT, sum(table.count_hash(key_hash) for table in self.tables))

    def count(self, kind, value):
        """How many copies of a key there are, 0 to 8; 8 is eight or more."""
        if self.kind_number and (self.kind_number, self.element_number) != kind_numbers(kind):
            raise KindError('the filter has keys of another kind')
        return self.count_hash(hash_key(kind, value, self.seed))

    def contains(self, kind, value):
        return self.count(kind, value) > 0


# -------------------------------------------------------------- command line

def kind_name(kind):
    return kind if isinstance(kind, str) else '%s of %s' % (kind[0], kind_name(kind[1]))


def parse_kind(name):
    first, of, rest = name.partition(' of ')
    if of:
        return first, parse_kind(rest)
    return '"char"' if name == 'char' else name


def parse_key(kind, key):
    """A key in JSON; jsonb stays text."""
    try:
        value = json.loads(key, parse_float=Decimal)
    except json.JSONDecodeError:
        value, key = key, json.dumps(key)
    return key if kind == 'jsonb' else value


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
    body = 'unset' if of.flags & UNSET else ('list', 'tables', 'partial state')[of.body]
    print('%s, %d items of kind %s, %s, %sremovable' % (
        body, of.items, kind_name(of.kind() or 'none yet'),
        'plain' if of.flags & PLAIN else 'semisorted', 'not ' if of.flags & NOT_REMOVABLE else ''))
    print('rate asked for %g, to expect %g, capacity %s, seed %d' % (
        of.fpr, of.rate(), of.capacity or 'not stated', of.seed - (of.seed >> 63 << 64)))
    for table in of.tables:
        print('%s: %d blocks of %d buckets, %d bits, %d items' % (
            'stash' if table.stash else 'table', table.blocks, table.buckets, table.bits, table.items))


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ('-h', '--help'):
        sys.exit(__doc__)
    try:
        of = read(sys.argv[1])
        describe(of)
    except (FormatError, OSError) as error:
        sys.exit('reader.py: %s' % error)
    kind = parse_kind(sys.argv[2]) if len(sys.argv) > 2 else None
    for key in sys.argv[3:]:
        try:
            print('%s: %d' % (key, of.count(kind, parse_key(kind, key))))
        except (FormatError, KindError) as error:
            sys.exit('reader.py: %s' % error)
        except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, struct.error) as error:
            sys.exit('reader.py: %s is no key of kind %s: %s' % (key, kind_name(kind), error))


if __name__ == '__main__':
    main()
