"""Writes filters as docs/format.md describes, and computes the shapes that PostgreSQL chooses.

The reader is the package pgcuckoo in clients/python.
"""

import struct
import sys
from collections import Counter, deque
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / 'clients' / 'python' / 'src'))

from pgcuckoo.filter import (CONTENT_PARTIAL, CONTENT_TABLES, DIRECTORY, DIRECTORY_BYTES,
                                 END_BYTES, HEADER, MAX_BYTES, MAX_CAPACITY, MAX_RATE, MIN_BYTES,
                                 MIN_RATE, VERSION)
from pgcuckoo.keys import M64, hash_key, number_of, signature
from pgcuckoo.tables import (BUCKET_ENTRIES, DENSE, MAX_BLOCK, MAX_COPIES, MIN_BITS,
                                 MULTISETS, RANK_BITS, SPARSE, DenseTable, Shape, SparseTable,
                                 entry_order)


# -------------------------------------------------------------------- shapes

def ceil_div(a, b):
    return -(-a // b)


def capacity_of(shape):
    """The number of keys for which PostgreSQL uses a shape."""
    if shape.all_buckets >= 2592:
        return 193 * shape.entries // 200
    return 383 * shape.entries // 400


def bits_for(fpr):
    """f0, the bits that a target rate requires: 7 to 29."""
    bits = MIN_BITS
    while fpr * (2**bits - 1) < 7.72:
        bits += 1
    return bits


def shape_for(keys, bits):
    """The shape that PostgreSQL chooses for 1 to 1,517,813,760 keys with 5 to 32 bits."""
    if keys >= 10000:
        buckets = ceil_div(50 * keys, 193)
    else:
        buckets = 100 * keys // 383 + (1 if keys >= 5000 else 5)
    blocks = ceil_div(buckets, MAX_BLOCK)
    per_block = ceil_div(buckets, blocks)
    return Shape(blocks, per_block + per_block % 2, bits)


def first_shape(fpr, keys):
    """The shape of the first table that PostgreSQL makes; keys is the capacity, 0 if unknown."""
    if keys:
        return shape_for(keys, bits_for(fpr))
    return shape_for(2**20, bits_for(fpr) + 1)


def other_bucket(shape, bucket, fingerprint):
    """The other bucket of a fingerprint that is in this bucket of the table."""
    block, within = divmod(bucket, shape.buckets)
    return block * shape.buckets + (shape.bucket_sum(fingerprint) - within) % shape.buckets


def code_at(shape, bucket, fingerprint):
    """The code of a fingerprint, 1 to 2^f - 1, in a bucket of the table."""
    even = bucket if bucket % 2 == 0 else other_bucket(shape, bucket, fingerprint)
    return (even // 2 << shape.bits) + fingerprint


# -------------------------------------------------------------------- tables

def codes_of(table):
    """All codes, ascending.  A code with several copies is repeated."""
    if isinstance(table, SparseTable):
        return table.codes()
    return sorted(code_at(table.shape, bucket, entry) for bucket in range(table.shape.all_buckets)
                  for entry in table.bucket(bucket) if entry)


def limit_copies(codes):
    """The codes in ascending order, each at most eight times."""
    result = []
    for code, copies in sorted(Counter(codes).items()):
        result += [code] * min(copies, MAX_COPIES)
    return result


def make_sparse(shape, codes):
    """The table of these codes, in any order; copies beyond the eighth are left out."""
    codes = limit_copies(codes)
    assert all(map(shape.is_code, codes))
    table = SparseTable(shape, len(codes))
    low_bits = table.low_bits
    groups, at = [], 0
    for last in range(16, 16 * table.groups + 16, 16):
        groups.append([])
        while at < len(codes) and codes[at] >> low_bits < last:
            groups[-1].append(codes[at])
            at += 1
    return encode(table, groups)


def encode(table, groups):
    """The table with these codes in each group, even if they are not valid."""
    low_bits, bits, index, items, start = table.low_bits, '', b'', 0, 0
    for j, codes in enumerate(groups):
        highs = [code >> low_bits for code in codes]
        for high in range(16 * j, 16 * j + 16):
            bits += '1' * highs.count(high) + '0'
        for code in codes if low_bits else []:
            bits += format(code % 2**low_bits, '0%db' % low_bits)[::-1]
        if j % 8 == 0:
            start = items
            index += struct.pack('<I', start)
        items += len(codes)
        index += bytes([min(items - start, 255)])
    index += index[-1:] * (-len(groups) % 8)
    table.data = index + int(bits[::-1], 2).to_bytes((len(bits) + 7) // 8, 'little')
    return table


RANKS = {nibbles: rank for rank, nibbles in enumerate(MULTISETS)}


def pack(shape, entries):
    """The number of 4 (f - 1) bits that encodes up to four entries, given in any order."""
    entries = sorted(entries + [0] * (BUCKET_ENTRIES - len(entries)), key=entry_order)
    value = RANKS[tuple(entry & 15 for entry in entries)]
    for i, entry in enumerate(entries):
        value |= entry >> 4 << (RANK_BITS + (shape.bits - 4) * i)
    return value


def make_dense(shape, codes):
    """The table of these codes, given in any order, or None if they do not all find room.

    Copies beyond the eighth are left out.  If both buckets of an item are full, the shortest chain
    of moves makes room for it.  If there is no such chain, the items cannot all be placed in any
    way (the chains are the augmenting paths of a matching).
    """
    codes = limit_copies(codes)
    assert all(map(shape.is_code, codes))
    if len(codes) > shape.entries:
        return None
    buckets = [[] for _ in range(shape.all_buckets)]
    for code in codes:
        even, odd, fingerprint = shape.place(code)
        bucket = make_room(shape, buckets, even, odd)
        if bucket is None:
            return None
        buckets[bucket].append(fingerprint)
    table = DenseTable(shape, len(codes))
    width = shape.bits - 1                              # bytes of two buckets
    table.data = b''.join(
        (pack(shape, one) | pack(shape, two) << 4 * width).to_bytes(width, 'little')
        for one, two in zip(buckets[::2], buckets[1::2]))
    return table


def make_room(shape, buckets, even, odd):
    """Makes room in one of the two buckets and returns its number, or None if that is impossible.

    buckets is a list of lists of fingerprints, at most four each.
    """
    came_from = {even: None, odd: None}                 # bucket: bucket and entry moved into it
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
            other = other_bucket(shape, bucket, fingerprint)
            if other not in came_from:
                came_from[other] = bucket, fingerprint
                queue.append(other)
    return None


# ------------------------------------------------------------------- filters

def header(content, number, flags, signature_, fpr, keys, seed, tables):
    """The 36 bytes of a header.  keys is the capacity, tables the number of tables."""
    return HEADER.pack(VERSION, content, number, flags, signature_, fpr, keys, seed & M64, tables,
                       bytes(3))


def directory_entry(table):
    representation = DENSE if isinstance(table, DenseTable) else SPARSE
    return DIRECTORY.pack(table.shape.blocks, table.items, table.shape.buckets, table.shape.bits,
                          representation)


def write(tables, key_type, fpr, keys=0, seed=0, flags=0, signature_=None):
    """The bytes of a filter of these tables, which are sorted into the order of shapes.

    key_type    None if there are no keys yet
    keys        the capacity, 0 if unknown
    seed        64 bits, signed or unsigned
    signature_  needed if the key type has anonymous records; else it follows from the key type

    The result is not validated.  CuckooFilter() refuses it if, for example, two shapes are equal.
    """
    number = number_of(key_type) if key_type else 0
    if signature_ is None:
        signature_ = signature(key_type) if key_type else 0
    tables = sorted(tables, key=lambda table: table.shape.key())
    return (header(CONTENT_TABLES, number, flags, signature_, fpr, keys, seed, len(tables)) +
            b''.join(map(directory_entry, tables)) + b''.join(table.data for table in tables) +
            bytes(END_BYTES))


def write_keys(key_type, values, fpr, keys=0, seed=0):
    """The bytes of a filter of these keys, like the one that PostgreSQL makes of an array of them.

    If the table is sparse, PostgreSQL makes the same bytes.  If it is dense, PostgreSQL can store
    an entry in the other of its two buckets.  Without keys the filter has no key type.
    """
    assert MIN_RATE <= fpr <= MAX_RATE and 0 <= keys <= MAX_CAPACITY
    values = list(values)
    hashes = {hash_key(key_type, value, seed & M64) for value in values}
    if len(hashes) > (keys or 1024):
        keys = len(hashes)
    shape = first_shape(fpr, keys)
    assert MIN_BYTES + DIRECTORY_BYTES + DenseTable(shape, 0).size() <= MAX_BYTES
    codes = [shape.code(hash_) for hash_ in hashes]
    table = None
    if 3 * shape.all_buckets <= len(limit_copies(codes)):
        table = make_dense(shape, codes)
    signatures = {signature(key_type, value) for value in values} or {0}
    assert len(signatures) == 1
    return write([table or make_sparse(shape, codes)], key_type if values else None, fpr, keys,
                 seed, signature_=signatures.pop())


def write_partial(key_type, hashes, fpr, keys=0, seed=0):
    """The bytes of a partial state of these hashes, in any order.  See write() for the others."""
    number, signature_ = (number_of(key_type), signature(key_type)) if key_type else (0, 0)
    hashes = sorted(set(hashes))
    return (header(CONTENT_PARTIAL, number, 0, signature_, fpr, keys, seed, 0) +
            struct.pack('<%dQ' % len(hashes), *hashes) + bytes(END_BYTES))
