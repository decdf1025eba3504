"""Shapes and tables: see "From a hash to a class" to "Dense tables" in docs/format.md."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from itertools import combinations_with_replacement
from operator import eq
from typing import List, Tuple

from .errors import require

SPARSE, DENSE = 0, 1                        # representations
MAX_COPIES = 8                              # of a class in one table
MAX_BLOCK = 32768                           # buckets of a block
MAX_BUCKETS = 393216000                     # of a table
MIN_BITS, MAX_BITS = 5, 32                  # of a fingerprint
BUCKET_ENTRIES = 4
MAX_RANK = 3875
RANK_BITS = 12
RANK_MASK = 2**RANK_BITS - 1

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

    def rate(self, items: int, removable: bool) -> float:
        """The expected rate of false positives of a table of this shape alone."""
        if not removable:
            return min(1.0, items / (self.pairs * self.last_fingerprint))
        return -math.expm1(8 * items / self.entries * math.log1p(-1 / self.last_fingerprint)) + 0.0


def bits_for(fpr: float) -> int:
    """f0, the bits of a fingerprint that a target rate needs: 7 to 29."""
    bits = MIN_BITS
    while fpr * (2**bits - 1) < 7.72:
        bits += 1
    return bits


def shape_for(keys: int, bits: int) -> Shape:
    """The shape that PostgreSQL chooses for this number of keys, 1 to 1,517,813,760."""
    if keys >= 10000:
        buckets = -(-50 * keys // 193)
    else:
        buckets = 100 * keys // 383 + (1 if keys >= 5000 else 5)
    blocks = -(-buckets // MAX_BLOCK)
    in_block = -(-buckets // blocks)
    return Shape(blocks, in_block + in_block % 2, bits)


def first_shape(fpr: float, capacity: int) -> Shape:
    """The shape of the first table of a filter with a capacity, 0 if that is unknown."""
    return shape_for(capacity, bits_for(fpr)) if capacity else shape_for(2**20, bits_for(fpr) + 1)


class Table(ABC):
    """What both representations of a table have.

    representation  'sparse' or 'dense'
    shape           a Shape
    items           how many classes the table has, counted with their copies
    expected_fpr    the expected rate of false positives of this table alone
    data            its bytes: size() of them once they are set
    """

    representation: str

    def __init__(self, shape: Shape, items: int, removable: bool = True) -> None:
        self.shape, self.items = shape, items
        self.expected_fpr = shape.rate(items, removable)
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


class SparseTable(Table):
    """A sorted list of codes in Elias-Fano form."""

    representation = 'sparse'

    def __init__(self, shape: Shape, items: int, removable: bool = True) -> None:
        super().__init__(shape, items, removable)
        self.low_bits = 0                               # l
        while 7 * self.high_part_count() > 8 * max(items, 1):
            self.low_bits += 1
        self.high_parts = self.high_part_count()        # Z
        self.groups = (self.high_parts + 15) // 16      # g
        self.sections = (self.groups + 7) // 8
        self.bits_at = 96 * self.sections               # where the string of bits begins
        self.string_bits = 16 * self.groups + items * (1 + self.low_bits)

    def high_part_count(self) -> int:
        return ((self.shape.limit - 1) >> self.low_bits) + 1

    def size(self) -> int:
        return 12 * self.sections + (self.string_bits + 7) // 8

    @classmethod
    def of_codes(cls, shape: Shape, codes: List[int]) -> SparseTable:
        """The table of these codes, which ascend; copies beyond the eighth are left out."""
        codes = [code for i, code in enumerate(codes)
                 if i < MAX_COPIES or codes[i - MAX_COPIES] != code]
        table = cls(shape, len(codes))
        low_bits, mask = table.low_bits, (1 << table.low_bits) - 1
        index, string = bytearray(), bytearray()
        rest = rest_bits = items = start = 0            # rest: bits not in the string yet
        for j in range(table.groups):
            first = items
            upper = lows = width = 0
            while items < len(codes) and codes[items] >> low_bits < 16 * j + 16:
                upper |= 1 << (codes[items] >> low_bits) - 16 * j + items - first
                lows |= (codes[items] & mask) << width
                width += low_bits
                items += 1
            rest |= (lows << 16 + items - first | upper) << rest_bits
            rest_bits += 16 + items - first + width
            string += (rest & (1 << rest_bits - rest_bits % 8) - 1).to_bytes(rest_bits // 8, 'little')
            rest >>= rest_bits - rest_bits % 8
            rest_bits %= 8
            if j % 8 == 0:
                start = first
                index += start.to_bytes(4, 'little')
            index.append(min(items - start, 255))
        index += index[-1:] * (-table.groups % 8)
        if rest_bits:
            string.append(rest)
        table.data = bytes(index + string)
        return table

    def group(self, base: int) -> Tuple[List[str], int, int]:
        """(runs, lows, end) of the group that begins with a bit of the string.

        runs  16 strings: a '1' for each code of a high part
        lows  the bit from which on the low parts follow
        end   the bit after the group

        Raises FormatError if the group is not inside the string.
        """
        count = 48                                      # bits: seldom too few
        while True:
            count = min(count, self.string_bits - base)
            require(count > 0, 'a sparse table with a group too long')
            bits = read_bits(self.data, self.bits_at + base, count)
            runs = format(bits, '0%db' % count)[::-1].split('0', 16)
            if len(runs) == 17:
                break
            require(base + count < self.string_bits, 'a sparse table with a group too long')
            count *= 2
        lows = base + count - len(runs.pop())
        end = lows + (lows - base - 16) * self.low_bits
        require(end <= self.string_bits, 'a sparse table with more codes than items')
        return runs, lows, end

    def low_parts(self, lows: int, first: int, count: int) -> List[int]:
        """The low parts of so many codes of a group, from a number on."""
        bits = read_bits(self.data, self.bits_at + lows + first * self.low_bits,
                         count * self.low_bits)
        mask = (1 << self.low_bits) - 1
        return [bits >> at & mask for at in range(0, count * self.low_bits, self.low_bits)
                ] if self.low_bits else [0] * count

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
        if not runs[r]:
            return 0
        return self.low_parts(lows, sum(map(len, runs[:r])), len(runs[r])).count(low)

    def codes_and_index(self) -> Tuple[List[int], bytes]:
        """The codes of all groups, and the index that these groups have."""
        codes: List[int] = []
        index, base, start = bytearray(), 0, 0
        for j in range(self.groups):
            if j % 8 == 0:
                start = len(codes)
                index += start.to_bytes(4, 'little')
            runs, lows, base = self.group(base)
            highs = [high << self.low_bits for high, run in enumerate(runs, 16 * j) for _ in run]
            codes += map(int.__add__, highs, self.low_parts(lows, 0, len(highs)))
            index.append(min(len(codes) - start, 255))
        return codes, bytes(index + index[-1:] * (-self.groups % 8))

    def codes(self) -> List[int]:
        """All codes, ascending; a code with several copies as often."""
        return self.codes_and_index()[0]

    def validate(self) -> None:
        codes, index = self.codes_and_index()
        require(index == self.data[:12 * self.sections], 'a sparse table with a wrong index')
        require(len(codes) == self.items, 'a sparse table of %d items has %d',
                self.items, len(codes))
        require(codes == sorted(codes), 'the codes of a sparse table do not ascend')
        require(not any(map(eq, codes, codes[MAX_COPIES:])), 'a code more than eight times')
        require(not codes or self.shape.is_code(codes[-1]), 'a sparse table with a wrong code')
        require(all(map(self.shape.last_fingerprint.__and__, codes)),
                'a sparse table with a wrong code')
        used = self.bits_at + self.string_bits
        require(read_bits(self.data, used, -used % 8) == 0, 'bits behind the last group')


# The 3,876 multisets of four nibbles, ascending tuples, in the order of their rank, which
# compares the largest nibble first.
MULTISETS = sorted(combinations_with_replacement(range(16), BUCKET_ENTRIES),
                   key=lambda nibbles: nibbles[::-1])

# Whether the nibbles of a rank differ and are not 0: then there are four entries, in their order.
PLAIN = [len(set(nibbles)) == BUCKET_ENTRIES and nibbles[0] > 0 for nibbles in MULTISETS]
PLAIN += [False] * (2**RANK_BITS - len(PLAIN))


def entry_order(entry: int) -> tuple[int, int]:
    """Entries of a bucket are sorted by their lowest four bits, then by the others."""
    return entry & 15, entry >> 4


class DenseTable(Table):
    """Buckets of four entries, semi-sorted."""

    representation = 'dense'

    def size(self) -> int:
        return self.shape.all_buckets * (self.shape.bits - 1) // 2

    def bucket(self, bucket: int) -> List[int]:
        """The four entries of a bucket, 0 to N B - 1."""
        width = 4 * (self.shape.bits - 1)
        return self.entries(read_bits(self.data, width * bucket, width))

    def entries(self, value: int) -> List[int]:
        """The four entries that the bits of a bucket stand for; FormatError if its rank is wrong."""
        rank, value = value & RANK_MASK, value >> RANK_BITS
        require(rank <= MAX_RANK, 'a bucket of rank %d', rank)
        high_bits = self.shape.bits - 4
        mask = (1 << high_bits) - 1
        return [((value >> (high_bits * i)) & mask) << 4 | nibble
                for i, nibble in enumerate(MULTISETS[rank])]

    def count_code(self, code: int) -> int:
        even, odd, fingerprint = self.shape.place(code)
        width, nibble, copies = 4 * (self.shape.bits - 1), fingerprint & 15, 0
        for bucket in even, odd:
            value = read_bits(self.data, width * bucket, width)
            rank = value & RANK_MASK
            require(rank <= MAX_RANK, 'a bucket of rank %d', rank)
            if nibble in MULTISETS[rank]:               # otherwise without decoding it
                copies += self.entries(value).count(fingerprint)
        return copies

    def validate(self) -> None:
        width = self.shape.bits - 1                     # bytes of two buckets
        items = 0
        for at in range(0, len(self.data), width):
            pair = int.from_bytes(self.data[at:at + width], 'little')
            for bucket in pair & (1 << 4 * width) - 1, pair >> 4 * width:
                if PLAIN[bucket & RANK_MASK]:
                    items += BUCKET_ENTRIES
                    continue
                entries = self.entries(bucket)
                require(entries == sorted(entries, key=entry_order),
                        'entries of a bucket are not in their order')
                items += BUCKET_ENTRIES - entries.count(0)
        require(items == self.items, 'a dense table of %d items has %d', self.items, items)
