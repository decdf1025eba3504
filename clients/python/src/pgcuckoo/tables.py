"""Shapes and tables: see "From a hash to a class" to "Dense tables" in docs/format.md."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from itertools import combinations_with_replacement

from .errors import require

SPARSE, DENSE = 0, 1                        # representations
MAX_COPIES = 8                              # of a class in one table
MAX_BLOCK = 32768                           # buckets of a block
MAX_BUCKETS = 393216000                     # of a table
MIN_BITS, MAX_BITS = 5, 32                  # of a fingerprint
BUCKET_ENTRIES = 4
MAX_RANK = 3875
RANK_BITS = 12

M32 = 2**32 - 1


def read_bits(data: bytes, at: int, count: int) -> int:
    """The number of count bits that begins with bit at of the bytes, the lowest bit first."""
    number = int.from_bytes(data[at >> 3:(at + count + 7) >> 3], 'little')
    return (number >> (at & 7)) & ((1 << count) - 1)


class Shape:
    """The numbers of a table.

    blocks   N, at least 1
    buckets  B, those of one block: even, 2 to 32,768
    bits     f, those of a fingerprint: 5 to 32

    N B is at most 393,216,000.  Shape() raises FormatError if a number is out of range.
    """

    def __init__(self, blocks: int, buckets: int, bits: int) -> None:
        require(blocks >= 1, 'a table of %d blocks', blocks)
        require(2 <= buckets <= MAX_BLOCK and buckets % 2 == 0, 'a block of %d buckets', buckets)
        require(blocks * buckets <= MAX_BUCKETS, 'a table of %d buckets', blocks * buckets)
        require(MIN_BITS <= bits <= MAX_BITS, 'a fingerprint of %d bits', bits)
        self.blocks, self.buckets, self.bits = blocks, buckets, bits
        self.all_buckets = blocks * buckets
        self.entries = BUCKET_ENTRIES * self.all_buckets
        self.pairs = self.all_buckets // 2              # P, the number of even buckets
        self.limit = self.pairs << bits                 # U, above all codes
        self.last_fingerprint = (1 << bits) - 1

    def __repr__(self) -> str:
        return 'Shape(%d, %d, %d)' % (self.blocks, self.buckets, self.bits)

    def key(self) -> tuple[int, int, int]:
        """What the order of shapes compares."""
        return self.all_buckets, self.bits, self.blocks

    def code(self, hash_: int) -> int:
        """The code of a hash of 64 bits: from 1 to U - 1."""
        x = (hash_ * self.pairs) >> 32
        q, rest = x >> 32, x & M32
        return (q << self.bits) + 1 + ((rest * self.last_fingerprint) >> 32)

    def is_code(self, code: int) -> bool:
        return 0 <= code < self.limit and code & self.last_fingerprint != 0

    def bucket_sum(self, fingerprint: int) -> int:
        """c(): the sum, modulo B, of the two buckets of a fingerprint; odd and below B."""
        h = fingerprint
        h = (h ^ (h >> 16)) * 0x85EBCA6B & M32
        h = (h ^ (h >> 13)) * 0xC2B2AE35 & M32
        h ^= h >> 16
        return ((h * self.buckets) >> 32) | 1

    def place(self, code: int) -> tuple[int, int, int]:
        """(even bucket, odd bucket, fingerprint) of a code; buckets are those of the table."""
        q, fingerprint = code >> self.bits, code & self.last_fingerprint
        block, pair = divmod(q, self.buckets // 2)
        even = 2 * pair
        odd = (self.bucket_sum(fingerprint) - even) % self.buckets
        return block * self.buckets + even, block * self.buckets + odd, fingerprint

    def rate_log(self, items: int) -> float:
        """ln(1 - rate) of a table of this shape, 0 or negative."""
        return 8 * items / self.entries * math.log1p(-1 / self.last_fingerprint)


class Table(ABC):
    """What both representations of a table have.

    representation  'sparse' or 'dense'
    shape           a Shape
    items           how many classes the table has, counted with their copies
    data            its bytes: size() of them once they are set
    """

    representation: str

    def __init__(self, shape: Shape, items: int) -> None:
        self.shape, self.items = shape, items
        self.data = b''

    @abstractmethod
    def size(self) -> int:
        """Bytes, from the shape and the number of items alone."""

    @abstractmethod
    def count_code(self, code: int) -> int:
        """How many copies the table has of a code: 0 to 8."""

    @abstractmethod
    def validate(self) -> None:
        """Raises FormatError unless the bytes, of which there are size(), are as they must be."""

    @property
    def expected_fpr(self) -> float:
        """The expected rate of false positives of this table alone."""
        return -math.expm1(self.shape.rate_log(self.items)) + 0.0

    def count_hash(self, hash_: int) -> int:
        """How many copies the table has of the class of a hash: 0 to 8."""
        return self.count_code(self.shape.code(hash_))


class SparseTable(Table):
    """A sorted list of codes in Elias-Fano form."""

    representation = 'sparse'

    def __init__(self, shape: Shape, items: int) -> None:
        super().__init__(shape, items)
        self.low_bits = 0                               # l
        while 7 * self.high_part_count() > 8 * max(items, 1):
            self.low_bits += 1
        self.high_parts = self.high_part_count()        # Z
        self.groups = (self.high_parts + 15) // 16      # g
        self.sections = (self.groups + 7) // 8
        self.bits_at = 96 * self.sections               # where the string of bits begins

    def high_part_count(self) -> int:
        return ((self.shape.limit - 1) >> self.low_bits) + 1

    def string_bits(self) -> int:
        """How many bits are used after the index."""
        return 16 * self.groups + self.items * (1 + self.low_bits)

    def size(self) -> int:
        return 12 * self.sections + (self.string_bits() + 7) // 8

    def group(self, base: int) -> tuple[list[str], int, int]:
        """(runs, lows, end) of the group that begins with a bit of the string.

        runs  16 strings: a '1' for each code of a high part
        lows  the bit from which on the low parts follow
        end   the bit after the group

        Raises FormatError if the group is not inside the string.
        """
        upper, zeros = '', 0
        while zeros < 16:
            at = base + len(upper)
            require(at < self.string_bits(), 'a sparse table with a group too long')
            some = read_bits(self.data, self.bits_at + at, min(16 - zeros, self.string_bits() - at))
            upper += format(some, '0%db' % min(16 - zeros, self.string_bits() - at))[::-1]
            zeros = upper.count('0')
        lows = base + len(upper)
        end = lows + (len(upper) - 16) * self.low_bits
        require(end <= self.string_bits(), 'a sparse table with more codes than items')
        return upper.split('0')[:-1], lows, end

    def low(self, lows: int, number: int) -> int:
        return read_bits(self.data, self.bits_at + lows + number * self.low_bits, self.low_bits)

    def count_code(self, code: int) -> int:
        high, low = code >> self.low_bits, code & ((1 << self.low_bits) - 1)
        j, r = divmod(high, 16)
        section = self.data[12 * (j // 8):12 * (j // 8) + 12]
        start = int.from_bytes(section[:4], 'little')
        counts = b'\0' + section[4:]                    # codes before a group; 255: or more
        if counts[j % 8 + 1] < 255:
            base = 16 * j + (start + counts[j % 8]) * (1 + self.low_bits)
        else:
            base = 16 * (j - j % 8) + start * (1 + self.low_bits)
            for _ in range(j % 8):
                base = self.group(base)[2]
        runs, lows, _ = self.group(base)
        before = sum(map(len, runs[:r]))
        return [self.low(lows, i) for i in range(before, before + len(runs[r]))].count(low)

    def groups_and_index(self) -> tuple[list[list[int]], bytes]:
        """The codes of each group, and the index that these groups have."""
        groups: list[list[int]] = []
        index, base, items, start = b'', 0, 0, 0
        for j in range(self.groups):
            runs, lows, base = self.group(base)
            highs = [high for high, run in enumerate(runs, 16 * j) for _ in run]
            groups.append([high << self.low_bits | self.low(lows, i)
                           for i, high in enumerate(highs)])
            if j % 8 == 0:
                start = items
                index += start.to_bytes(4, 'little')
            items += len(highs)
            index += bytes([min(items - start, 255)])
        return groups, index + index[-1:] * (-self.groups % 8)

    def codes(self) -> list[int]:
        """All codes, ascending; a code with several copies as often."""
        return [code for group in self.groups_and_index()[0] for code in group]

    def validate(self) -> None:
        groups, index = self.groups_and_index()
        require(index == self.data[:12 * self.sections],
                'a sparse table with a wrong index')
        codes = [code for group in groups for code in group]
        require(len(codes) == self.items, 'a sparse table of %d items has %d',
                self.items, len(codes))
        for i, code in enumerate(codes):
            require(self.shape.is_code(code), 'a sparse table with the code %d', code)
            require(i == 0 or codes[i - 1] <= code, 'the codes of a sparse table do not ascend')
            require(i < MAX_COPIES or codes[i - MAX_COPIES] != code, 'a code more than eight times')
        used = self.bits_at + self.string_bits()
        require(read_bits(self.data, used, -used % 8) == 0, 'bits behind the last group')


# The 3,876 multisets of four nibbles, ascending tuples, in the order of their rank, which
# compares the largest nibble first.
MULTISETS = sorted(combinations_with_replacement(range(16), BUCKET_ENTRIES),
                   key=lambda nibbles: nibbles[::-1])


def entry_order(entry: int) -> tuple[int, int]:
    """Entries of a bucket are sorted by their lowest four bits, then by the others."""
    return entry & 15, entry >> 4


class DenseTable(Table):
    """Buckets of four entries, semi-sorted."""

    representation = 'dense'

    def size(self) -> int:
        return self.shape.all_buckets * (self.shape.bits - 1) // 2

    def bucket(self, bucket: int) -> list[int]:
        """The four entries of a bucket, 0 to N B - 1; FormatError if the rank is wrong."""
        width = 4 * (self.shape.bits - 1)
        value = read_bits(self.data, width * bucket, width)
        rank, value = value & ((1 << RANK_BITS) - 1), value >> RANK_BITS
        require(rank <= MAX_RANK, 'a bucket of rank %d', rank)
        high_bits = self.shape.bits - 4
        mask = (1 << high_bits) - 1
        return [((value >> (high_bits * i)) & mask) << 4 | nibble
                for i, nibble in enumerate(MULTISETS[rank])]

    def count_code(self, code: int) -> int:
        even, odd, fingerprint = self.shape.place(code)
        return (self.bucket(even) + self.bucket(odd)).count(fingerprint)

    def validate(self) -> None:
        items = 0
        for bucket in range(self.shape.all_buckets):
            entries = self.bucket(bucket)
            require(entries == sorted(entries, key=entry_order),
                    'entries of a bucket are not in their order')
            items += BUCKET_ENTRIES - entries.count(0)
        require(items == self.items, 'a dense table of %d items has %d', self.items, items)
