package pgcuckoo;

import static pgcuckoo.Bits.MASK32;
import static pgcuckoo.FormatException.require;

/** Buckets of four entries, semi-sorted; see "Dense tables" in docs/format.md. */
final class DenseTable extends Table {
  private static final int RANK_BITS = 12;
  private static final int RANK_MASK = (1 << RANK_BITS) - 1;
  private static final int RANKS = 3876;

  /** The nibbles of each rank, that of the first entry lowest. */
  private static final char[] NIBBLES = new char[RANKS];

  static {
    int rank = 0;
    for (int d = 0; d < 16; d++) {
      for (int c = 0; c <= d; c++) {
        for (int b = 0; b <= c; b++) {
          for (int a = 0; a <= b; a++) {
            NIBBLES[rank++] = (char) (a | b << 4 | c << 8 | d << 12);
          }
        }
      }
    }
  }

  private final int highBits; // of an entry, without its nibble
  private final int width; // bits of a bucket
  private final long ones; // the lowest bits of the upper parts of two entries

  DenseTable(Shape shape, long items, byte[] data, int at) {
    super(shape, items, data, at);
    highBits = shape.bits() - 4;
    width = 4 * (shape.bits() - 1);
    ones = 1 | 1L << highBits;
  }

  @Override
  long size() {
    return (long) shape.allBuckets() * (shape.bits() - 1) / 2;
  }

  private long bits(long bit, int count) {
    return Bits.get(data, bit, count);
  }

  /** c(): the sum, modulo B, of the two buckets of a fingerprint. */
  private int bucketSum(long fingerprint) {
    int h = (int) fingerprint;
    h = (h ^ h >>> 16) * 0x85EBCA6B;
    h = (h ^ h >>> 13) * 0xC2B2AE35;
    h ^= h >>> 16;
    return (int) ((h & MASK32) * shape.buckets() >>> 32) | 1;
  }

  @Override
  int count(long code) {
    long fingerprint = code & shape.mask();
    int pair = (int) (code >>> shape.bits());
    int block = pair / (shape.buckets() / 2);
    int first = block * shape.buckets();
    int even = 2 * pair - first;
    int odd = bucketSum(fingerprint) - even;
    odd += shape.buckets() & odd >> 31; // without a branch, as below
    long one = 8L * at + (long) width * (first + even);
    long other = 8L * at + (long) width * (first + odd);
    // Most lookups of absent keys end here, without decoding ranks.
    return (matches(one, fingerprint) | matches(other, fingerprint)) == 0
        ? 0
        : countIn(one, fingerprint) + countIn(other, fingerprint);
  }

  /** 0 if the upper bits of no entry of the bucket are those of the fingerprint. */
  private long matches(long bucket, long fingerprint) {
    long pattern = (fingerprint >>> 4) * ones;
    long first = Bits.word(data, bucket + RANK_BITS) ^ pattern;
    long second = Bits.word(data, bucket + RANK_BITS + 2 * highBits) ^ pattern;
    return (first - ones & ~first | second - ones & ~second) & ones << highBits - 1;
  }

  /** The entries of the bucket that are the fingerprint, without branches. */
  private int countIn(long bucket, long fingerprint) {
    int different =
        NIBBLES[(int) Bits.word(data, bucket) & RANK_MASK] ^ (int) (fingerprint & 15) * 0x1111;
    long high = fingerprint >>> 4;
    long mask = (1L << highBits) - 1;
    long copies = 0;
    for (int i = 0; i < 4; i += 2, different >>>= 8) {
      long two = Bits.word(data, bucket + RANK_BITS + i * highBits);
      // Of these numbers less one, only that of 0 is negative
      copies +=
          (((two ^ high) & mask | different & 15) - 1 >>> 63)
              + (((two >>> highBits ^ high) & mask | different & 240) - 1 >>> 63);
    }
    return (int) copies;
  }

  @Override
  void validate() {
    long found = 0;
    long bit = 8L * at;
    for (int bucket = 0; bucket < shape.allBuckets(); bucket++) {
      int rank = (int) bits(bit, RANK_BITS);
      require(rank < RANKS, "a bucket of rank " + rank);
      int nibbles = NIBBLES[rank];
      bit += RANK_BITS;
      long last = 0;
      for (int i = 0; i < 4; i++, nibbles >>>= 4, bit += highBits) {
        // Entries compare by their nibbles, which ascend, then by their other bits
        long entry = (long) (nibbles & 15) << 32 | bits(bit, highBits);
        require(entry >= last, "entries of a bucket are not in their order");
        found += entry == 0 ? 0 : 1;
        last = entry;
      }
    }
    require(found == items, "a dense table of " + items + " items has " + found);
  }
}
