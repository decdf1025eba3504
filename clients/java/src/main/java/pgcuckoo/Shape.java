package pgcuckoo;

import static pgcuckoo.Bits.MASK32;
import static pgcuckoo.FormatException.require;

/**
 * The numbers of a table; see "From a hash to a class" in docs/format.md.
 *
 * @param blocks N, at least 1
 * @param buckets B, those of one block: even, 2 to 32,768
 * @param bits f, those of a fingerprint: 5 to 32
 */
record Shape(int blocks, int buckets, int bits) implements Comparable<Shape> {
  private static final int MAX_BLOCK = 32768; // buckets
  private static final int MAX_BUCKETS = 393_216_000;

  /** The shape of a directory entry, whose numbers can be any. */
  static Shape read(long blocks, int buckets, int bits) {
    require(blocks >= 1, "a table without blocks");
    require(
        buckets >= 2 && buckets <= MAX_BLOCK && buckets % 2 == 0,
        "a block of " + buckets + " buckets");
    require(blocks * buckets <= MAX_BUCKETS, "a table of " + blocks * buckets + " buckets");
    require(bits >= 5 && bits <= 32, "a fingerprint of " + bits + " bits");
    return new Shape((int) blocks, buckets, bits);
  }

  /** The shape that PostgreSQL chooses for the first table; a capacity of 0 is unknown. */
  static Shape first(double fpr, long capacity) {
    int bits = 7;
    while (fpr * ((1L << bits) - 1) < 7.72) {
      bits++;
    }
    return capacity == 0 ? forKeys(1 << 20, bits + 1) : forKeys(capacity, bits);
  }

  private static Shape forKeys(long keys, int bits) {
    long all =
        keys >= 10_000 ? (50 * keys + 192) / 193 : 100 * keys / 383 + (keys >= 5000 ? 1 : 5);
    long blocks = (all + MAX_BLOCK - 1) / MAX_BLOCK;
    long buckets = (all + blocks - 1) / blocks;
    return new Shape((int) blocks, (int) (buckets + buckets % 2), bits);
  }

  /** N B. */
  int allBuckets() {
    return blocks * buckets;
  }

  long entries() {
    return 4L * allBuckets();
  }

  /** U, above all codes. */
  long limit() {
    return (long) (allBuckets() / 2) << bits;
  }

  /** The largest fingerprint, and the bits of a code that are the fingerprint. */
  long mask() {
    return (1L << bits) - 1;
  }

  /** The keys for which PostgreSQL uses the shape. */
  long capacity() {
    return allBuckets() >= 2592 ? 193 * entries() / 200 : 383 * entries() / 400;
  }

  /** The code of a hash. A larger hash, unsigned, never has a smaller code. */
  long code(long hash) {
    long pairs = allBuckets() >>> 1;
    long x = (hash >>> 32) * pairs + ((hash & MASK32) * pairs >>> 32);
    return (x >>> 32 << bits) + 1 + ((x & MASK32) * mask() >>> 32);
  }

  /** The logarithm of the rate at which a removable table does not report an absent key. */
  double logOfNone(long items) {
    return 8.0 * items / entries() * Math.log1p(-1.0 / mask());
  }

  /** The expected rate of a table of a filter that is not removable. */
  double sharedRate(long items) {
    return Math.min(1, items / ((double) (allBuckets() / 2) * mask()));
  }

  @Override
  public int compareTo(Shape other) {
    int order = Integer.compare(allBuckets(), other.allBuckets());
    order = order != 0 ? order : Integer.compare(bits, other.bits);
    return order != 0 ? order : Integer.compare(blocks, other.blocks);
  }
}
