#!/usr/bin/python3
"""Prints malformed.tsv of test/golden: test/run.sh golden.

Each line is for a rule under "Validation" in docs/format.md.  It has a name, and in hexadecimal a
value that breaks this rule and, as far as possible, no other.
"""

import struct
import sys
from pathlib import Path

sys.dont_write_bytecode = True

sys.path.insert(0, str(Path(__file__).parents[2] / 'clients' / 'python' / 'src'))

from pgcuckoo import CuckooFilter
from pgcuckoo.filter import DIRECTORY, END_BYTES, HEADER, UNSET_FILTER, VERSION
from pgcuckoo.keys import number_of
from pgcuckoo.tables import DENSE, SPARSE, DenseTable, Shape, SparseTable

# ------------------------------------------------ bytes, by docs/format.md

def write(tables, key_type='integer'):
    """The bytes of a filter of these tables."""
    number = number_of(key_type) if key_type else 0
    return (HEADER.pack(VERSION, 0, number, 0, 0, 0.01, 0, 0, len(tables), bytes(3)) +
            b''.join(DIRECTORY.pack(table.shape.blocks, table.items, table.shape.buckets, table.shape.bits,
                                    DENSE if isinstance(table, DenseTable) else SPARSE) for table in tables) +
            b''.join(table.data for table in tables) + bytes(END_BYTES))


def write_partial(hashes, seed=0):
    """The bytes of a partial state of texts with these hashes."""
    return (HEADER.pack(VERSION, 1, number_of('text'), 0, 0, 0.01, 0, seed, 0, bytes(3)) +
            struct.pack('<%dQ' % len(hashes), *hashes) + bytes(END_BYTES))


def tables(*shapes):
    """Empty tables."""
    return [SparseTable.of_codes(Shape(*shape), []) for shape in shapes]


def of_codes(shape, *codes, items=None):
    """A filter of one sparse table with these codes, even if they are wrong, and a number of items."""
    table = SparseTable.of_codes(Shape(*shape), codes)
    table.items = items or table.items
    table.data += bytes(SparseTable(table.shape, table.items).size() - len(table.data))
    return write([table])


def of_buckets(shape, items, *buckets):
    """A filter of one dense table of these buckets, each a number of 4 (f - 1) bits.  Others are empty."""
    table = DenseTable(Shape(*shape), items)
    number = sum(bucket << 4 * (table.shape.bits - 1) * i for i, bucket in enumerate(buckets))
    table.data = number.to_bytes(table.size(), 'little')
    return write([table])


def patch(data, at, format_, value):
    """The bytes with another number at an offset.  Negative offsets count from the end."""
    changed = bytearray(data)
    struct.pack_into('<' + format_, changed, at % len(data), value)
    return bytes(changed)


# ---------------------------------------------------------------- the values

BLOCKS, ITEMS, BUCKETS, BITS, REPRESENTATION, TABLE = 36, 40, 44, 46, 47, 48

codes = [code for code in range(5, 448, 5) if code % 32]
sparse_filter = of_codes((1, 28, 5), *codes)
large_filter = of_codes((1, 76, 5), *(code for code in range(5, 1216, 5) if code % 32))
# Ranks 1, 5, 15 and 35 are those of a single entry of 1, 2, 3 and 4.
dense_filter = of_buckets((1, 8, 9), 4, 1, 0, 5, 0, 15, 0, 35)
nine_codes = of_codes((1, 6, 5), 8, *8 * [9])   # The lowest bit of its first low part makes 8 a 9.
empty_filter = CuckooFilter.build([], 'integer', 100, 0.01).data
partial = write_partial([1, 2, 3])
array_filter = CuckooFilter.build([[1]], ('array', 'integer'), 1, 0.01).data

malformed = {
    'no bytes': b'',
    'version 0': patch(sparse_filter, 0, 'B', 0),
    'version 2': patch(sparse_filter, 0, 'B', 2),
    'version 16': patch(sparse_filter, 0, 'B', 16),
    'less than 44 bytes': UNSET_FILTER[:-1],
    'content 2': patch(sparse_filter, 1, 'B', 2),
    'an unknown key type': patch(sparse_filter, 2, 'B', 255),
    'hashes without a key type': patch(partial, 2, 'B', 0),
    'flags 4': patch(sparse_filter, 3, 'B', 4),
    'a partial state with flags': patch(partial, 3, 'B', 1),
    'byte 33': patch(sparse_filter, 33, 'B', 1),
    'byte 35': patch(sparse_filter, 35, 'B', 1),
    'unset and not removable': patch(UNSET_FILTER, 3, 'B', 3),
    'unset with a key type': patch(UNSET_FILTER, 2, 'B', 1),
    'unset with a seed': patch(UNSET_FILTER, 24, 'B', 1),
    'unset with more bytes': UNSET_FILTER + bytes(8),
    'an array without a signature': patch(array_filter, 4, 'I', 0),
    'an integer with a signature': patch(sparse_filter, 4, 'I', 1),
    'a rate too small': patch(sparse_filter, 8, 'd', 1.9e-8),
    'a rate too large': patch(sparse_filter, 8, 'd', 0.11),
    'a rate that is not a number': patch(sparse_filter, 8, 'd', float('nan')),
    'a capacity too large': patch(sparse_filter, 16, 'Q', 1517813761),
    'a capacity of 64 bits': patch(sparse_filter, 16, 'Q', 2**63),
    'no table': write([]),
    '17 tables': write(tables(*((1, 2, bits) for bits in range(5, 22)))),
    'a partial state with a table': patch(partial, 32, 'B', 1),
    'a directory that is cut off': patch(UNSET_FILTER, 3, 'B', 0)[:8] + sparse_filter[8:44],
    'no blocks': patch(sparse_filter, BLOCKS, 'I', 0),
    'no buckets': patch(empty_filter, BUCKETS, 'H', 0),
    'an odd number of buckets': patch(empty_filter, BUCKETS, 'H', 27),
    'a block too large': patch(empty_filter, BUCKETS, 'H', 32770),
    'a table too large': patch(patch(empty_filter, BLOCKS, 'I', 12001), BUCKETS, 'H', 32768),
    'buckets beyond 32 bits': patch(patch(empty_filter, BLOCKS, 'I', 2**31), BUCKETS, 'H', 2),
    'a fingerprint of 4 bits': patch(empty_filter, BITS, 'B', 4),
    'a fingerprint of 33 bits': patch(empty_filter, BITS, 'B', 33),
    'representation 2': patch(sparse_filter, REPRESENTATION, 'B', 2),
    'more items than entries': patch(dense_filter, ITEMS, 'I', 33),
    'items without a key type': patch(sparse_filter, 2, 'B', 0),
    'tables in another order': write(tables((1, 8, 7), (1, 6, 9)), None),
    'a shape twice': write(tables((1, 6, 9), (1, 6, 9)), None),
    'a byte too few': sparse_filter[:-1],
    'a byte too many': sparse_filter + b'\0',
    'a sparse table that is cut off': sparse_filter[:60] + bytes(8),
    'a dense table that is cut off': dense_filter[:60] + bytes(8),
    'half a hash': partial[:-12] + bytes(8),
    'bytes at the end': patch(sparse_filter, -1, 'B', 1),
    'the first start is not 0': patch(sparse_filter, TABLE, 'I', 1),
    'the second start is wrong': patch(large_filter, TABLE + 12, 'I', large_filter[TABLE + 12] + 1),
    'a start that is far too large': patch(large_filter, TABLE + 12, 'I', 2**32 - 1),
    'a wrong count of codes': patch(sparse_filter, TABLE + 5, 'B', sparse_filter[TABLE + 5] + 1),
    'a count of 255 for fewer codes': patch(sparse_filter, TABLE + 7, 'B', 255),
    'a count of a group that does not exist': patch(sparse_filter, TABLE + 8, 'B', 0),
    'a 1 too few in an upper part': patch(sparse_filter, TABLE + 12, 'B', sparse_filter[TABLE + 12] & 0xFE),
    'a 1 too many in an upper part': patch(sparse_filter, TABLE + 12, 'B', sparse_filter[TABLE + 12] | 2),
    'a group that does not end': patch(sparse_filter, -17, 'Q', 2**64 - 1),
    'fewer codes than items': of_codes((1, 28, 5), *codes[:-1], items=len(codes)),
    'codes that do not ascend': of_codes((1, 6, 5), 9, 8, 40),
    'a code nine times': patch(nine_codes, TABLE + 15, 'B', nine_codes[TABLE + 15] | 2),
    'a code too large': of_codes((1, 10, 5), 9, 160 + 3),
    'a fingerprint of 0': of_codes((1, 6, 5), 9, 32, 40),
    'bits behind the last group': patch(sparse_filter, -9, 'B', sparse_filter[-9] | 0x80),
    'a rank too large': of_buckets((1, 2, 9), 4, 3876),
    'entries that are not in order': of_buckets((1, 2, 6), 4, 3 << 18 | 3 << 16 | 2 << 14 | 3 << 12 | 4),
    'an item too few': patch(dense_filter, ITEMS, 'I', 5),
    'an item too many': patch(dense_filter, ITEMS, 'I', 3),
    'hashes that do not ascend': partial[:36] + struct.pack('<3Q', 2, 1, 3) + bytes(8),
    'a hash twice': partial[:36] + struct.pack('<3Q', 1, 1, 3) + bytes(8)}

if __name__ == '__main__':
    print('name\tbytes')
    for name, data in malformed.items():
        print('%s\t%s' % (name, data.hex()))
