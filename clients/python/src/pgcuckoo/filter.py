"""A filter: how it is made from keys or read, and lookups in it."""

from __future__ import annotations

import math
import re
import struct
from base64 import b64decode, b64encode
from typing import Any, Iterable, List, NamedTuple, Optional, Union

from .errors import FormatError, KeyTypeError, KeyValueError, require
from .keys import M64, NAMES, KeyType, hash_key, is_nested, number_of, signature
from .tables import (DENSE, MAX_COPIES, SPARSE, DenseTable, Shape, SparseTable, Table,
                     first_shape)

VERSION = 1
CONTENT_TABLES, CONTENT_PARTIAL = 0, 1
NOT_REMOVABLE, UNSET = 1, 2                 # flags

HEADER_BYTES = 36
DIRECTORY_BYTES = 12                        # for each table
END_BYTES = 8                               # zeros
MIN_BYTES = HEADER_BYTES + END_BYTES
MAX_BYTES = 786432000                       # 750 MiB

MAX_TABLES = 16
MAX_CAPACITY = 1517813760
MIN_RATE, MAX_RATE = 2e-8, 0.1
UNCOUNTED = 1024                            # keys of a filter without a capacity

HEADER = struct.Struct('<BBBBIdQQB3s')      # the 36 bytes
DIRECTORY = struct.Struct('<IIHBB')         # blocks, items, buckets, bits, representation
UNSET_FILTER = bytes([VERSION, 0, 0, UNSET]) + bytes(40)


class Info(NamedTuple):
    """What cuckoo_info() says of a filter, as far as the format determines it."""

    format_version: int
    representation: Optional[str]           # sparse, dense, mixed, partial; None if unset
    key_type: Optional[str]                 # None: the filter has not seen a key yet
    items: int                              # of a partial state: its hashes
    capacity: Optional[int]                 # None: unknown
    target_fpr: Optional[float]             # None: unset
    expected_fpr: float
    subfilters: int
    seed: Optional[int]                     # signed, as in SQL; None: unset
    removable: bool


def check_number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError('%s: %r is not a number' % (name, value))
    return value


def check_capacity(capacity: Optional[float]) -> int:
    """The capacity as the header has it: 0 for None; ValueError if it is out of range."""
    if capacity is None:
        return 0
    if not check_number(capacity, 'capacity') >= 1:     # as a NaN is not
        raise ValueError('capacity must be at least 1 key: %r' % capacity)
    if capacity > MAX_CAPACITY:
        raise ValueError('capacity is too large for a cuckoofilter: %r' % capacity)
    return math.ceil(capacity)


def check_keys(keys: Iterable[Any]) -> Iterable[Any]:
    """The keys; TypeError for a single one, whose characters would be taken for keys."""
    if isinstance(keys, (str, bytes, bytearray, memoryview)):
        raise TypeError('keys: %r is one key, not a list of keys' % (keys,))
    return keys


def check_size(size: int) -> None:
    if size > MAX_BYTES:
        raise ValueError('cuckoofilter would be too large: %d bytes' % size)


class CuckooFilter:
    """A filter or partial state; FormatError if the bytes are neither.

    Every byte is validated.  With validate=False, tables and hashes are not, which is for bytes
    from a trusted server: a lookup can then raise FormatError, or give a wrong answer.

    A lookup takes a key and, optionally, its key type (see pgcuckoo.keys).  Without a key
    type the key is taken as one of the filter's: this is possible if that is a scalar key type or
    jsonb.  KeyTypeError means that the filter has keys of another key type, KeyValueError that the
    value is not one of the key type.

    A filter never changes.  SQL adds keys to it and removes them, and combines filters: see the
    README.
    """

    def __init__(self, data: Union[bytes, bytearray, memoryview], validate: bool = True) -> None:
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError('a filter is made of bytes, not %s%s' % (
                type(data).__name__,
                '; for its text form there is from_text()' * isinstance(data, str)))
        self.data = bytes(data)
        self.subfilters: List[Table] = []
        self.hashes: List[int] = []         # of a partial state
        self._read_header()
        self._read_directory()
        self._read_content(validate)

    @classmethod
    def from_text(cls, text: str, validate: bool = True) -> CuckooFilter:
        """The filter of PostgreSQL's text form, base64; also of a line of it, as COPY writes it."""
        try:
            data = b64decode(re.sub(r'\r?\n\Z', '', text), validate=True)
        except ValueError as error:
            raise FormatError('not base64: %s' % error) from None
        return cls(data, validate)

    @classmethod
    def build(cls, keys: Iterable[Any], key_type: KeyType, capacity: Optional[float] = None,
              fpr: float = 0.001, seed: int = 0) -> CuckooFilter:
        """The filter of the distinct keys, as cuckoo_from_array() makes it in SQL; None is skipped.

        capacity    how many keys the filter is for, if more will be added or it will be combined
                    with other filters; None: the number of the keys
        fpr         the rate of false positives: 2e-8 to 0.1
        seed        64 bits, signed or unsigned

        The data is what PostgreSQL makes, if that stores a sparse table.  If it stores a dense one,
        both filters give the same answers.  ValueError means that a parameter is out of range, or
        that the filter would be too large; KeyValueError that a key is not one of the key type.
        """
        number = number_of(key_type)
        room = check_capacity(capacity)
        if not MIN_RATE <= check_number(fpr, 'fpr') <= MAX_RATE:
            raise ValueError('false-positive rate must be between %g and %g: %r%s' % (
                MIN_RATE, MAX_RATE, fpr, ' (the capacity comes before the rate)' * (fpr >= 1)))
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise TypeError('seed: %r is not an int' % (seed,))
        if not -2**63 <= seed <= M64:
            raise ValueError('seed has more than 64 bits: %d' % seed)

        keys = [key for key in check_keys(keys) if key is not None]
        signatures = {signature(key_type, key) for key in keys if is_nested(number)} or {0}
        if len(signatures) > 1:
            raise KeyTypeError('key types differ between the keys of type %r' % (key_type,))
        hashes = sorted({hash_key(key_type, key, seed) for key in keys})
        if len(hashes) > (room or UNCOUNTED):
            room = len(hashes)
        shape = first_shape(fpr, room)
        check_size(MIN_BYTES + DIRECTORY_BYTES + DenseTable(shape, 0).size())
        # A larger hash never has a smaller code.
        table = SparseTable.of_codes(shape, list(map(shape.code, hashes)))
        check_size(MIN_BYTES + DIRECTORY_BYTES + table.size())
        return cls(HEADER.pack(VERSION, CONTENT_TABLES, number if keys else 0, 0, signatures.pop(),
                               fpr, room, seed & M64, 1, bytes(3)) +
                   DIRECTORY.pack(shape.blocks, table.items, shape.buckets, shape.bits, SPARSE) +
                   table.data + bytes(END_BYTES), validate=False)

    def _read_header(self) -> None:
        data = self.data
        require(len(data) > 0, 'no bytes')
        require(not 2 <= data[0] <= 15, 'version %d of the format is not known', data[0])
        require(data[0] == VERSION, 'not a filter: it begins with the byte %d', data[0])
        require(len(data) >= MIN_BYTES, 'only %d bytes', len(data))
        require(len(data) <= MAX_BYTES, '%d bytes are more than 750 MiB', len(data))

        (_, content, self.key_type_number, self.flags, self.signature, self.target_fpr,
         self.capacity, self.seed, self.table_count, zeros) = HEADER.unpack_from(data)
        self.partial = content == CONTENT_PARTIAL
        require(content in (CONTENT_TABLES, CONTENT_PARTIAL), 'content %d', content)
        require(self.key_type_number == 0 or self.key_type_number in NAMES,
                'key type %d is not known', self.key_type_number)
        require(self.flags <= NOT_REMOVABLE + UNSET, 'flags %d', self.flags)
        require(not self.partial or self.flags == 0, 'a partial state with flags')
        require(zeros == bytes(3), 'bytes 33 to 35 are not 0')
        if self.flags & UNSET:
            require(data[:HEADER_BYTES] == UNSET_FILTER[:HEADER_BYTES],
                    'an unset filter with parameters')
            return
        require((self.signature != 0) == is_nested(self.key_type_number),
                'signature %08x of key type %d', self.signature, self.key_type_number)
        # A NaN fails, too.
        require(MIN_RATE <= self.target_fpr <= MAX_RATE, 'target rate %r', self.target_fpr)
        require(self.capacity <= MAX_CAPACITY, 'capacity %d', self.capacity)
        if self.partial:
            require(self.table_count == 0, 'a partial state with tables')
        else:
            require(1 <= self.table_count <= MAX_TABLES, '%d tables', self.table_count)

    def _read_directory(self) -> None:
        """Sets the tables, still without data."""
        require(len(self.data) >= MIN_BYTES + DIRECTORY_BYTES * self.table_count,
                'the directory is cut off')
        last: Optional[Shape] = None
        for i in range(self.table_count):
            blocks, items, buckets, bits, representation = DIRECTORY.unpack_from(
                self.data, HEADER_BYTES + DIRECTORY_BYTES * i)
            shape = Shape(blocks, buckets, bits)
            require(representation in (SPARSE, DENSE), 'representation %d', representation)
            require(representation == SPARSE or items <= shape.entries,
                    'a dense table of %d items', items)
            require(items == 0 or self.key_type_number != 0, 'items without a key type')
            require(last is None or last.key() < shape.key(),
                    'tables are not in the order of shapes')
            self.subfilters.append((DenseTable if representation == DENSE else SparseTable)(
                shape, items, self.removable))
            last = shape

    def _read_content(self, validate: bool) -> None:
        data, end = self.data, len(self.data) - END_BYTES
        at = HEADER_BYTES + DIRECTORY_BYTES * self.table_count
        if self.partial:
            require((end - at) % 8 == 0, 'a hash is cut off')
            require(end == at or self.key_type_number != 0, 'hashes without a key type')
        else:
            require(end == at + sum(table.size() for table in self.subfilters),
                    '%d bytes are not what the directory describes', len(data))
        require(data[end:] == bytes(END_BYTES), 'the last eight bytes are not 0')
        for table in self.subfilters:
            table.data = data[at:at + table.size()]
            at += table.size()
            if validate:
                table.validate()
        if self.partial:
            self.hashes = list(struct.unpack('<%dQ' % ((end - at) // 8), data[at:end]))
            require(not validate or all(a < b for a, b in zip(self.hashes, self.hashes[1:])),
                    'hashes do not ascend')

    def to_text(self) -> str:
        """PostgreSQL's text form, base64."""
        return b64encode(self.data).decode()

    # ------------------------------------------------------------- look inside

    @property
    def key_type(self) -> Optional[str]:
        """The name of the key type, or None if the filter has not seen a key."""
        return NAMES.get(self.key_type_number)

    @property
    def representation(self) -> Optional[str]:
        """'sparse', 'dense', 'mixed' if there are tables of both, 'partial', or None if unset."""
        if self.partial:
            return 'partial'
        found = {table.representation for table in self.subfilters}
        return found.pop() if len(found) == 1 else 'mixed' if found else None

    @property
    def removable(self) -> bool:
        """Whether keys can be removed from the filter."""
        return not self.flags & NOT_REMOVABLE

    @property
    def items(self) -> int:
        """The copies of all keys."""
        return sum(table.items for table in self.subfilters)

    @property
    def expected_fpr(self) -> float:
        """The expected rate of false positives, from 0 to 1."""
        rates = [table.expected_fpr for table in self.subfilters]
        if not self.removable:
            return min(1.0, sum(rates))
        return -math.expm1(sum(math.log1p(-rate) for rate in rates)) + 0.0

    def info(self) -> Info:
        """What the filter is."""
        unset = bool(self.flags & UNSET)
        return Info(VERSION, self.representation, self.key_type,
                    len(self.hashes) if self.partial else self.items, self.capacity or None,
                    None if unset else self.target_fpr, self.expected_fpr,
                    len(self.subfilters), None if unset else self.seed - (self.seed >> 63 << 64),
                    self.removable)

    def __eq__(self, other: object) -> bool:
        """Whether the bytes are equal, as = compares filters in SQL."""
        if not isinstance(other, CuckooFilter):
            return NotImplemented
        return self.data == other.data

    def __hash__(self) -> int:
        return hash(self.data)

    def __repr__(self) -> str:
        return '<CuckooFilter of %s, %d items>' % (self.key_type, self.info().items)

    # ----------------------------------------------------------------- look up

    def _refuse_partial(self) -> None:
        if self.partial:
            raise FormatError('a partial state is no filter yet')

    def count_hash(self, hash_: int) -> int:
        """The count, 0 to 8, of a key with this hash, which was made with the filter's seed."""
        self._refuse_partial()
        copies = 0
        for table in self.subfilters:
            copies += table.count_code(table.shape.code(hash_))
        return min(copies, MAX_COPIES)

    def count(self, key: Any, key_type: Optional[KeyType] = None) -> int:
        """How often the filter contains a key: 0 to 8."""
        self._refuse_partial()
        if key is None:
            raise KeyValueError('NULL is no key')
        if self.key_type is None:
            return 0
        if key_type is None:
            if is_nested(self.key_type_number):
                raise KeyTypeError('say the key type: the filter has only a signature of what is '
                                   'inside its keys of type %s' % self.key_type)
            key_type = self.key_type
        if number_of(key_type) != self.key_type_number:
            raise KeyTypeError('the keys of the filter are of type %s, not %r' % (
                self.key_type, key_type))
        if is_nested(self.key_type_number) and signature(key_type, key) != self.signature:
            raise KeyTypeError('the filter has another %s than %r' % (self.key_type, key_type))
        return self.count_hash(hash_key(key_type, key, self.seed))

    def contains(self, key: Any, key_type: Optional[KeyType] = None) -> bool:
        """Whether the filter may hold a key; "no" is always right."""
        return self.count(key, key_type) > 0

    __contains__ = contains

    def contains_each(self, keys: Iterable[Any],
                      key_type: Optional[KeyType] = None) -> List[bool]:
        """For each key whether the filter may hold it."""
        return [self.contains(key, key_type) for key in check_keys(keys)]

    def contains_any(self, keys: Iterable[Any], key_type: Optional[KeyType] = None) -> bool:
        """Whether the filter may hold at least one key; no, if there are no keys."""
        return any(self.contains(key, key_type) for key in check_keys(keys))

    def contains_all(self, keys: Iterable[Any], key_type: Optional[KeyType] = None) -> bool:
        """Whether the filter may hold every key; yes, if there are no keys."""
        return all(self.contains(key, key_type) for key in check_keys(keys))
