package pgcuckoo;

import static pgcuckoo.FormatException.require;

/** A sorted list of codes in Elias-Fano form; see "Sparse tables" in docs/format.md. */
final class SparseTable extends Table {
  private static final int GROUP = 16; // high parts
  private static final int SECTION_GROUPS = 8;
  private static final int SECTION_BYTES = 12;

  private final int lowBits;
  private final long groups;
  private final long sections;
  private final long begin; // the first bit of the string of bits
  private final long end; // the bit after it

  SparseTable(Shape shape, long items, byte[] data, int at) {
    super(shape, items, data, at);
    int low = 0;
    while (7 * highParts(low) > 8 * Math.max(items, 1)) {
      low++;
    }
    lowBits = low;
    groups = (highParts(low) + GROUP - 1) / GROUP;
    sections = (groups + SECTION_GROUPS - 1) / SECTION_GROUPS;
    begin = 8 * (at + SECTION_BYTES * sections);
    end = begin + GROUP * groups + items * (1 + low);
  }

  private long highParts(int low) {
    return (shape.limit() - 1 >>> low) + 1;
  }

  @Override
  long size() {
    return (end + 7) / 8 - at;
  }

  private long bits(long bit, int count) {
    return Bits.get(data, bit, count);
  }

  /** The bit after zero number k of those from a bit on; that bit itself if k is 0. */
  private long afterZeros(long bit, int k) {
    while (k > 0) {
      require(bit <= end, "a sparse table with a group too long");
      int shift = (int) bit & 7;
      long zeros = ~Bits.get64(data, (int) (bit >>> 3)) >>> shift;
      int count = Long.bitCount(zeros);
      if (count >= k) {
        for (; k > 1; k--) {
          zeros &= zeros - 1;
        }
        return bit + Long.numberOfTrailingZeros(zeros) + 1;
      }
      k -= count;
      bit += 64 - shift;
    }
    return bit;
  }

  @Override
  int count(long code) {
    long high = code >>> lowBits;
    long group = high / GROUP;
    int number = (int) group % SECTION_GROUPS;
    int section = at + SECTION_BYTES * (int) (group / SECTION_GROUPS);
    long start = Bits.get32(data, section);
    long counts = Bits.get64(data, section + 4);
    long before = counts << 8 >>> 8 * number & 255;
    long codes = (counts >>> 8 * number & 255) - before;
    long base = begin + GROUP * (group - number) + start * (1 + lowBits);
    if (before + codes < 255) {
      base += GROUP * number + before * (1 + lowBits);
    } else { // the index does not say: walk from the first group of the section
      codes = afterZeros(base, GROUP) - base - GROUP;
      for (int i = 0; i < number; i++) {
        base += GROUP + codes * (1 + lowBits);
        codes = afterZeros(base, GROUP) - base - GROUP;
      }
    }
    int zeros = (int) high % GROUP;
    long one = afterZeros(base, zeros);
    long low = base + GROUP + codes + (one - base - zeros) * lowBits;
    long wanted = code & (1L << lowBits) - 1;
    int copies = 0;
    for (; bits(one, 1) == 1; one++, low += lowBits) {
      copies += bits(low, lowBits) == wanted ? 1 : 0;
    }
    return copies;
  }

  @Override
  void validate() {
    long base = begin;
    long seen = 0;
    long start = 0;
    long last = 0;
    int same = 0;
    for (long group = 0; group < SECTION_GROUPS * sections; group++) {
      int number = (int) group % SECTION_GROUPS;
      int section = at + SECTION_BYTES * (int) (group / SECTION_GROUPS);
      if (number == 0) {
        start = seen;
        require(Bits.get32(data, section) == start, "a sparse table with a wrong index");
      }
      if (group < groups) {
        long lows = afterZeros(base, GROUP);
        long low = lows;
        long codes = lows - base - GROUP;
        long next = lows + codes * lowBits;
        seen += codes;
        require(seen <= items && next <= end, "a sparse table with more codes than items");
        long high = GROUP * group;
        for (long bit = base; bit < lows; bit++) {
          if (bits(bit, 1) == 0) {
            high++;
            continue;
          }
          long code = high << lowBits | bits(low, lowBits);
          low += lowBits;
          same = code == last ? same + 1 : 1;
          require(code >= last, "the codes of a sparse table do not ascend");
          require(same <= MAX_COPIES, "a code more than eight times");
          require(
              code < shape.limit() && (code & shape.mask()) != 0,
              "a sparse table with a wrong code");
          last = code;
        }
        base = next;
      }
      require(
          (data[section + 4 + number] & 255) == Math.min(seen - start, 255),
          "a sparse table with a wrong index");
    }
    require(seen == items, "a sparse table with fewer codes than items");
    require(bits(end, (int) -end & 7) == 0, "bits behind the last group");
  }

  /** Writes ascending codes, as many as the table has items, where only zeros are. */
  void write(long[] codes) {
    long base = begin;
    int next = 0;
    int start = 0;
    for (long group = 0; group < SECTION_GROUPS * sections; group++) {
      int number = (int) group % SECTION_GROUPS;
      int section = at + SECTION_BYTES * (int) (group / SECTION_GROUPS);
      if (number == 0) {
        start = next;
        Bits.put32(data, section, start);
      }
      if (group < groups) {
        int first = next;
        while (next < items && codes[next] >>> lowBits < GROUP * (group + 1)) {
          long high = (codes[next] >>> lowBits) - GROUP * group;
          Bits.put(data, base + high + next - first, 1, 1);
          next++;
        }
        base += GROUP + next - first;
        for (int i = first; i < next; i++, base += lowBits) {
          Bits.put(data, base, codes[i] & (1L << lowBits) - 1, lowBits);
        }
      }
      data[section + 4 + number] = (byte) Math.min(next - start, 255);
    }
  }
}
