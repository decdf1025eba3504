#!/usr/bin/python3
"""Reads a cuckoofilter without PostgreSQL, as docs/format.md describes it.

    reader.py FILE                  what the filter is
    reader.py FILE KIND KEY...      and what it answers for these keys

FILE holds the bytes of a filter (f::bytea), or their base64 (the text form);
"-" reads standard input.  Keys are written in JSON, as the functions below
take them; of a plain word the quotes may be left out.

    psql -AtXc "SELECT cuckoo_agg(name) FROM birds" | reader.py - text cuckoo

Needs Debian's python3-xxhash, and otherwise the standard library only.
"""

import base64
import bisect
import ipaddress
import json
import math
import struct
import sys
import uuid
from decimal import Decimal

import xxhash

KINDS = {
    'integer': 1, 'boolean': 2, '"char"': 3, 'text': 4, 'bytea': 5, 'bit': 6,
    'double precision': 7, 'numeric': 8, 'money': 9, 'uuid': 10, 'date': 11,
    'time': 12, 'timetz': 13, 'timestamp': 14, 'timestamptz': 15,
    'interval': 16, 'inet': 17, 'macaddr': 18, 'macaddr8': 19, 'pg_lsn': 20,
    'xid8': 21, 'enum': 22, 'jsonb': 23, 'array': 24, 'composite': 25,
    'range': 26, 'multirange': 27,
}
KIND_NAMES = {number: name for name, number in KINDS.items()}
WITH_ELEMENTS = ('array', 'range', 'multirange')

VERSION = 1
LIST, TABLES, PARTIAL = 0, 1, 2
PLAIN, NOT_REMOVABLE, UNSET = 1, 2, 4
HEADER_BYTES = 40
DIRECTORY_BYTES = 16
TAIL_BYTES = 8
MAX_BYTES = 786432000
MAX_COPIES = 8
MASK64 = 2**64 - 1


class FormatError(ValueError):
    """The bytes are not a filter."""


class KindError(TypeError):
    """The key is of another kind than the filter's."""


# ------------------------------------------------------------------- hashing

def xxh3(data, seed, kind):
    """The hash of canonical bytes."""
    seed = (seed + kind * 0x9E3779B97F4A7C15) & MASK64
    return xxhash.xxh3_64_intdigest(data, seed)


def hash_key(kind, value, seed=0):
    """The hash of a key: kind by its name, or (kind, kind of the elements)."""
    name = kind if isinstance(kind, str) else kind[0]
    return xxh3(canonical(kind, value), seed, KINDS[name])


def shard(kind, value, shards):
    """What cuckoo_shard(key, shards) returns."""
    return ((hash_key(kind, value, 0x243F6A8885A308D3) >> 32) * shards) >> 32


def canonical(kind, value):
    """The canonical bytes of a key.

    Values are: int for integer, money (smallest unit), date (days), time,
    timestamp, timestamptz (microseconds), pg_lsn and xid8; bool; str for text
    and enum; bytes or hexadecimal str for bytea; str of 0 and 1 for bit; one
    byte or character for "char"; float; str or Decimal for numeric; str for
    uuid, inet, macaddr and macaddr8; (microseconds, seconds west) for timetz;
    (months, days, microseconds) for interval; JSON as str for jsonb; for
    those with elements, with kind = (name, kind of the elements): a list, or
    {"bounds": [[length, lower bound], ...], "elements": [...]} for array;
    (lower, upper, "[)") or "empty" for range, None meaning no bound; a list of
    such ranges for multirange; a list of (kind, value) for composite.
    """
    if not isinstance(kind, str):
        name, element = kind
        return {'array': array_bytes, 'range': range_bytes,
                'multirange': multirange_bytes}[name](element, value)
    return SCALARS[kind](value)


def nested(kind, value):
    """A value that is part of another; None is NULL."""
    if value is None:
        return b'\xff\xff\xff\xff'
    data = canonical(kind, value)
    return struct.pack('<I', len(data)) + data


def kind_byte(kind):
    return bytes([KINDS[kind if isinstance(kind, str) else kind[0]]])


def char_bytes(value):
    return value if isinstance(value, bytes) else value.encode()[:1] or b'\0'


def bytea_bytes(value):
    return value if isinstance(value, bytes) else bytes.fromhex(value)


def bit_bytes(value):
    padded = value + '0' * (-len(value) % 8)
    bits = bytes(int(padded[i:i + 8], 2) for i in range(0, len(padded), 8))
    return struct.pack('<I', len(value)) + bits


def float_bytes(value):
    value = float(value)
    if math.isnan(value):
        return struct.pack('<Q', 0x7FF8000000000000)
    return struct.pack('<d', 0.0 if value == 0 else value)


def numeric_bytes(value):
    value = Decimal(value)
    if value.is_nan():
        return struct.pack('<Hh', 0xC000, 0)
    if value.is_infinite():
        return struct.pack('<Hh', 0xD000 if value > 0 else 0xF000, 0)
    sign, decimals, exponent = value.as_tuple()
    # Digits of base 10000 begin at decimal places that are multiples of four.
    extra = exponent % 4
    number = int(''.join(map(str, decimals))) * 10**extra
    weight = (exponent - extra) // 4
    digits = []
    while number > 0:
        number, digit = divmod(number, 10000)
        digits.append(digit)
    weight += len(digits) - 1
    while digits and digits[0] == 0:
        digits.pop(0)
    if not digits:
        return struct.pack('<Hh', 0, 0)
    digits.reverse()
    return struct.pack('<Hh%dh' % len(digits), 0x4000 if sign else 0, weight, *digits)


def interval_bytes(value):
    months, days, microseconds = value
    more, rest = divmod(microseconds, 86400000000)
    return struct.pack('<qq', 30 * months + days + more, rest)


def inet_bytes(value):
    address, _, bits = value.partition('/')
    if ':' in address:
        data, family = ipaddress.IPv6Address(address).packed, 6
    else:
        data, family = bytes(map(int, address.split('.'))), 4
    return bytes([family, int(bits) if bits else 8 * len(data)]) + data


def macaddr_bytes(value):
    return bytes.fromhex(value.replace(':', ''))


def array_bytes(element, value):
    if isinstance(value, dict):
        bounds, elements = value['bounds'], value['elements']
    else:
        bounds, elements = ([[len(value), 1]] if value else []), value
    data = kind_byte(element) + struct.pack('<I', len(bounds))
    for length, lower in bounds:
        data += struct.pack('<ii', length, lower)
    return data + b''.join(nested(element, each) for each in elements)


def bounds_bytes(element, value):
    if value == 'empty':
        return b'\x01'
    lower, upper, brackets = value
    flags = 0
    if lower is None:
        flags |= 2
    elif brackets[0] == '[':
        flags |= 4
    if upper is None:
        flags |= 8
    elif brackets[1] == ']':
        flags |= 16
    data = bytes([flags])
    for bound in (lower, upper):
        if bound is not None:
            data += nested(element, bound)
    return data


def range_bytes(element, value):
    return kind_byte(element) + bounds_bytes(element, value)


def multirange_bytes(element, value):
    return (kind_byte(element) + struct.pack('<I', len(value)) +
            b''.join(bounds_bytes(element, each) for each in value))


def composite_bytes(value):
    data = struct.pack('<I', len(value))
    for kind, attribute in value:
        data += kind_byte(kind) + nested(kind, attribute)
    return data


def jsonb_bytes(value):
    # Numbers keep their digits; a later pair of the same name replaces an
    # earlier one, as a dict does.
    return jsonb_value(json.loads(value, parse_int=Decimal, parse_float=Decimal))


def jsonb_value(value):
    if value is None:
        return b'\x00'
    if isinstance(value, bool):
        return b'\x02' if value else b'\x01'
    if isinstance(value, Decimal):
        data = numeric_bytes(value)
        return b'\x03' + struct.pack('<I', len(data)) + data
    if isinstance(value, str):
        data = value.encode()
        return b'\x04' + struct.pack('<I', len(data)) + data
    if isinstance(value, list):
        return (b'\x05' + struct.pack('<I', len(value)) +
                b''.join(map(jsonb_value, value)))
    data = b'\x06' + struct.pack('<I', len(value))
    pairs = [(name.encode(), each) for name, each in value.items()]
    for name, each in sorted(pairs, key=lambda pair: (len(pair[0]), pair[0])):
        data += struct.pack('<I', len(name)) + name + jsonb_value(each)
    return data


def packed(form):
    return lambda value: struct.pack(form, *(value if isinstance(value, (list, tuple)) else [value]))


SCALARS = {
    'integer': packed('<q'),
    'boolean': lambda value: b'\x01' if value else b'\x00',
    '"char"': char_bytes,
    'text': lambda value: value.encode(),
    'bytea': bytea_bytes,
    'bit': bit_bytes,
    'double precision': float_bytes,
    'numeric': numeric_bytes,
    'money': packed('<q'),
    'uuid': lambda value: uuid.UUID(value).bytes,
    'date': packed('<i'),
    'time': packed('<q'),
    'timetz': packed('<qi'),
    'timestamp': packed('<q'),
    'timestamptz': packed('<q'),
    'interval': interval_bytes,
    'inet': inet_bytes,
    'macaddr': macaddr_bytes,
    'macaddr8': macaddr_bytes,
    'pg_lsn': packed('<Q'),
    'xid8': packed('<Q'),
    'enum': lambda value: value.encode(),
    'jsonb': jsonb_bytes,
    'composite': composite_bytes,
}


# ------------------------------------------------------------------- buckets

def code_of(nibbles):
    """The number of four nibbles in ascending order."""
    return sum(math.comb(nibble + i, i + 1) for i, nibble in enumerate(nibbles))


NIBBLES = {}
for _d in range(16):
    for _c in range(_d + 1):
        for _b in range(_c + 1):
            for _a in range(_b + 1):
                NIBBLES[code_of((_a, _b, _c, _d))] = (_a, _b, _c, _d)


def other_sum(fingerprint, buckets):
    """c() of the format: the sum, modulo buckets, of the two candidates."""
    h = fingerprint
    h ^= h >> 16
    h = h * 0x85EBCA6B & 0xFFFFFFFF
    h ^= h >> 13
    h = h * 0xC2B2AE35 & 0xFFFFFFFF
    h ^= h >> 16
    return (h * buckets >> 32) | 1


class Table:
    def __init__(self, blocks, buckets, bits, items, plain, data=None, stash=False):
        self.blocks, self.buckets, self.bits = blocks, buckets, bits
        self.items, self.plain, self.data, self.stash = items, plain, data, stash
        self.width = bits if plain else bits - 1    # of a bucket, in nibbles

    def size(self):
        return self.blocks * self.buckets * self.width // 2

    def entries(self, number):
        """The four entries of a bucket."""
        nibble = number * self.width
        word = int.from_bytes(self.data[nibble // 2:(nibble + self.width + 1) // 2], 'little')
        word = word >> 4 * (nibble % 2) & (1 << 4 * self.width) - 1
        if self.plain:
            return [word >> self.bits * k & (1 << self.bits) - 1 for k in range(4)]
        code, high_bits = word & 4095, self.bits - 4
        if code not in NIBBLES:
            raise FormatError('bucket %d has the code %d' % (number, code))
        return [(word >> 12 + high_bits * k & (1 << high_bits) - 1) << 4 | NIBBLES[code][k]
                for k in range(4)]

    def order(self, entry):
        """What entries of a bucket are in ascending order of."""
        return entry if self.plain else (entry & 15, entry >> 4)

    def place(self, hash_):
        """(number of the first bucket, of the second, fingerprint)"""
        x = (hash_ >> 32) * self.blocks
        block, rest = x >> 32, x & 0xFFFFFFFF
        first = rest * self.buckets >> 32
        fingerprint = 1 + ((hash_ & 0xFFFFFFFF) * ((1 << self.bits) - 1) >> 32)
        second = (other_sum(fingerprint, self.buckets) - first) % self.buckets
        return (block * self.buckets + first, block * self.buckets + second, fingerprint)

    def count(self, hash_):
        first, second, fingerprint = self.place(hash_)
        copies = (self.entries(first) + self.entries(second)).count(fingerprint)
        return MAX_COPIES if copies and self.stash else copies

    def rate(self):
        # 1 - (1 - 1 / fingerprints) ** (8 items / entries), with all digits
        compared = 2 * self.items / (self.blocks * self.buckets)
        return -math.expm1(compared * math.log1p(-1 / (2**self.bits - 1)))

    def check(self):
        items = 0
        for number in range(self.blocks * self.buckets):
            entries = self.entries(number)
            if entries != sorted(entries, key=self.order):
                raise FormatError('bucket %d is out of order' % number)
            items += 4 - entries.count(0)
        if items != self.items:
            raise FormatError('a table holds %d items, not %d' % (items, self.items))


# ------------------------------------------------------------------- filters

def require(condition, what):
    if not condition:
        raise FormatError(what)


class Filter:
    def __init__(self, data):
        """Takes the bytes of a filter apart and checks them."""
        require(len(data) >= 1, 'no bytes')
        require(data[0] == VERSION, 'version %d of the format' % data[0])
        require(HEADER_BYTES <= len(data) <= MAX_BYTES, '%d bytes' % len(data))
        (self.version, self.body, self.kind_number, self.element_number, self.flags,
         tables, partial, zero, self.fpr, self.capacity, seed, self.items
         ) = struct.unpack_from('<8Bd3Q', data)
        self.seed = seed
        self.list, self.tables = [], []
        self.check_header(tables, partial, zero, data)

        if self.body != TABLES:
            require(len(data) == HEADER_BYTES + 8 * self.items, '%d bytes' % len(data))
            self.list = list(struct.unpack_from('<%dQ' % self.items, data, HEADER_BYTES))
            self.check_list()
            return

        at = HEADER_BYTES + tables * DIRECTORY_BYTES
        require(len(data) >= at, '%d bytes' % len(data))
        for i in range(tables):
            blocks, buckets, bits, stash, items = struct.unpack_from(
                '<IHBBQ', data, HEADER_BYTES + i * DIRECTORY_BYTES)
            require(1 <= blocks <= 196608000 and 2 <= buckets <= 32768 and
                    buckets % 2 == 0 and blocks * buckets <= 393216000 and
                    5 <= bits <= 32 and stash <= (i > 0) and items <= 4 * blocks * buckets,
                    'table %d of the directory' % (i + 1))
            self.tables.append(Table(blocks, buckets, bits, items, self.flags & PLAIN,
                                     stash=stash == 1))
        require(sum(table.items for table in self.tables) == self.items, 'items do not add up')
        require(len(data) == at + sum(table.size() for table in self.tables) + TAIL_BYTES,
                '%d bytes' % len(data))
        for table in self.tables:
            table.data = data[at:at + table.size()]
            at += table.size()
            table.check()
        require(not any(data[at:]), 'the last bytes are not zero')

    def check_header(self, tables, partial, zero, data):
        kind = KIND_NAMES.get(self.kind_number)
        require(self.body <= PARTIAL, 'body')
        require(kind or (self.kind_number == 0 and self.items == 0), 'kind')
        require((kind in WITH_ELEMENTS) == (self.element_number != 0) and
                self.element_number <= len(KINDS), 'kind of the elements')
        require(self.flags < 8, 'flags')
        require(self.body == TABLES or not self.flags & NOT_REMOVABLE, 'flags')
        require(1 <= tables <= 16 if self.body == TABLES else tables == 0, 'number of tables')
        require(partial == (1 if self.body == PARTIAL else 0), 'version of a partial body')
        require(zero == 0, 'byte 7')
        if self.flags & UNSET:
            require(data == bytes([1, 0, 0, 0, UNSET]) + bytes(35), 'an unset filter')
            return
        require(2e-9 <= self.fpr <= 0.1, 'rate')
        require(self.capacity <= 2**40, 'capacity')
        if self.body == LIST:
            require(self.items <= (1024 if self.capacity == 0 else 32), 'length of the list')

    def check_list(self):
        most = 1 if self.body == PARTIAL else MAX_COPIES
        for i in range(1, len(self.list)):
            require(self.list[i - 1] <= self.list[i], 'hash %d is out of order' % i)
        for i in range(most, len(self.list)):
            require(self.list[i - most] != self.list[i], 'hash %d is one copy too many' % i)

    def kind(self):
        """As the functions above take it; None where no key has come yet."""
        name = KIND_NAMES.get(self.kind_number)
        return (name, KIND_NAMES[self.element_number]) if name in WITH_ELEMENTS else name

    def count_hash(self, hash_):
        if self.body == PARTIAL:
            raise FormatError('a partial state is no filter')
        if self.body == LIST:
            return (bisect.bisect_right(self.list, hash_) -
                    bisect.bisect_left(self.list, hash_))
        return min(sum(table.count(hash_) for table in self.tables), MAX_COPIES)

    def count(self, kind, value):
        """Copies of a key: 0 to 8."""
        mine = self.kind()
        if mine is not None:
            # The elements' own elements do not stand in the header.
            outer = kind if isinstance(kind, str) else (
                kind[0], kind[1] if isinstance(kind[1], str) else kind[1][0])
            if outer != mine:
                raise KindError('the filter has keys of kind %s, not %s' % (mine, kind))
        return self.count_hash(hash_key(kind, value, self.seed))

    def contains(self, kind, value):
        return self.count(kind, value) > 0

    def rate(self):
        """The rate of false positives to expect."""
        if self.body != TABLES:
            return self.items / 2**64
        none = 0.0
        for table in self.tables:
            none += math.log1p(-table.rate())
        return -math.expm1(none)


def read(path):
    data = sys.stdin.buffer.read() if path == '-' else open(path, 'rb').read()
    # The first byte of the bytes is a version, never the letter A.
    return base64.b64decode(data) if data[:1] == b'A' else data


def main(arguments):
    if not arguments or len(arguments) == 2:
        sys.exit(__doc__)
    filter_ = Filter(read(arguments[0]))
    seed = filter_.seed - 2**64 if filter_.seed >= 2**63 else filter_.seed
    print('%s of %s: %d items, rate %g asked, %g expected, capacity %d, seed %d%s' % (
        ('list', 'tables', 'partial')[filter_.body], filter_.kind(), filter_.items,
        filter_.fpr, filter_.rate(), filter_.capacity, seed,
        ', not removable' if filter_.flags & NOT_REMOVABLE else ''))
    for table in filter_.tables:
        print('table of %d x %d buckets, f = %d, %s: %d items' % (
            table.blocks, table.buckets, table.bits,
            'plain' if table.plain else 'semi-sorted', table.items))
    for argument in arguments[2:]:
        kind = filter_.kind() if arguments[1] == '.' else arguments[1]
        try:
            value = json.loads(argument)
        except ValueError:
            value = argument
        if kind in ('text', 'numeric', 'jsonb', 'enum', 'bit') and not isinstance(value, str):
            value = argument
        print('%s: %d' % (argument, filter_.count(kind, value)))


if __name__ == '__main__':
    main(sys.argv[1:])
