package pgcuckoo;

import static pgcuckoo.FormatException.require;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.stream.LongStream;

/**
 * A filter of cuckoo, an extension of PostgreSQL: a value of its type cuckoofilter.
 *
 * <p>Read a filter and look keys up without the server:
 *
 * <pre>{@code
 * ResultSet row = statement.executeQuery("SELECT f::bytea FROM filters WHERE name = 'email'");
 * row.next();
 * CuckooFilter f = CuckooFilter.of(row.getBytes(1));
 * f.contains("user42@example.com");
 * }</pre>
 *
 * <p>Make a filter, and use it in a query:
 *
 * <pre>{@code
 * CuckooFilter mine = CuckooFilter.build(List.of("user7@example.com", "dodo"));
 * PreparedStatement query = connection.prepareStatement(
 *     "SELECT id FROM customers WHERE (SELECT ?::bytea::cuckoofilter) @> email");
 * query.setBytes(1, mine.toBytes());
 * }</pre>
 *
 * <p>Keys are values of the classes that {@link Key} lists, or keys made with it. A key of another
 * key type than the filter's throws a {@link KeyTypeException}.
 *
 * <p>A filter never changes, and any number of threads can look up keys in it at the same time.
 */
public final class CuckooFilter {
  private static final int VERSION = 1;
  private static final int HEADER_BYTES = 36;
  private static final int DIRECTORY_BYTES = 12; // for each table
  private static final int END_BYTES = 8; // zeros
  private static final int MAX_BYTES = 786_432_000; // 750 MiB
  private static final int NOT_REMOVABLE = 1; // flags
  private static final int UNSET = 2;
  private static final int LAST_KEY_TYPE = 27;
  private static final int MAX_TABLES = 16;
  private static final long MAX_CAPACITY = 1_517_813_760;
  private static final double MIN_RATE = 2e-8;
  private static final double MAX_RATE = 0.1;
  private static final int UNCOUNTED = 1024; // keys of a filter without a capacity

  private final byte[] data;
  private final int keyType;
  private final int signature;
  private final int flags;
  private final long seed;
  private final boolean partial;
  private final Table[] tables;

  /**
   * What {@code cuckoo_info} says of a filter in SQL.
   *
   * @param formatVersion 1
   * @param representation sparse, dense, mixed, partial, or null if the filter is unset
   * @param keyType the number of the key type; 0 if the filter has not seen a key
   * @param items the copies of all keys; of a partial state, its hashes
   * @param capacity the keys the filter is for; 0 if that is unknown
   * @param targetFpr the rate of false positives that was asked for; 0 if unset
   * @param expectedFpr that to be expected, from 0 to 1
   * @param subfilters the number of sub-filters
   * @param seed the seed of the hashes; 0 if unset
   * @param removable whether keys can be removed
   */
  public record Info(
      int formatVersion,
      String representation,
      int keyType,
      long items,
      long capacity,
      double targetFpr,
      double expectedFpr,
      int subfilters,
      long seed,
      boolean removable) {}

  /**
   * What {@code cuckoo_subfilters} says of a sub-filter in SQL.
   *
   * @param items the copies of its keys
   * @param capacity the keys it has room for
   * @param blocks the number of blocks
   * @param buckets the number of buckets of a block
   * @param fingerprintBits the bits of a fingerprint
   * @param bytes its size
   * @param representation sparse or dense
   * @param expectedFpr the rate of false positives to be expected of it alone
   */
  public record Subfilter(
      long items,
      long capacity,
      int blocks,
      int buckets,
      int fingerprintBits,
      long bytes,
      String representation,
      double expectedFpr) {}

  private CuckooFilter(byte[] data, int lastKeyType) {
    this.data = data;
    require(data.length > 0, "no bytes");
    require(data[0] == VERSION, "version " + data[0] + " of the format is not known");
    require(
        data.length >= HEADER_BYTES + END_BYTES && data.length <= MAX_BYTES,
        data.length + " bytes");
    partial = data[1] == 1;
    keyType = data[2] & 255;
    flags = data[3];
    signature = (int) Bits.get32(data, 4);
    seed = Bits.get64(data, 24);
    tables = new Table[data[32] & 255];
    require(partial || data[1] == 0, "content " + data[1]);
    require(keyType <= lastKeyType, "key type " + keyType + " is not known");
    require(flags >= 0 && flags <= (partial ? 0 : NOT_REMOVABLE + UNSET), "flags " + flags);
    require((data[33] | data[34] | data[35]) == 0, "bytes 33 to 35 are not 0");
    if ((flags & UNSET) != 0) {
      byte[] unset = new byte[HEADER_BYTES];
      unset[0] = VERSION;
      unset[3] = UNSET;
      require(
          Arrays.equals(data, 0, HEADER_BYTES, unset, 0, HEADER_BYTES),
          "an unset filter with parameters");
    } else {
      boolean known = keyType <= LAST_KEY_TYPE;
      require(
          !known || (signature != 0) == (keyType >= 24),
          "a signature that does not match key type " + keyType);
      require(targetFpr() >= MIN_RATE && targetFpr() <= MAX_RATE, "target rate " + targetFpr());
      require(capacity() >= 0 && capacity() <= MAX_CAPACITY, "capacity " + capacity());
      require(
          tables.length <= (partial ? 0 : MAX_TABLES) && tables.length >= (partial ? 0 : 1),
          tables.length + " tables");
    }
    readDirectory();
    require(Bits.get64(data, data.length - END_BYTES) == 0, "the last eight bytes are not 0");
    for (Table table : tables) {
      table.validate();
    }
    for (int at = HEADER_BYTES + 8; partial && at < data.length - END_BYTES; at += 8) {
      require(
          Long.compareUnsigned(Bits.get64(data, at - 8), Bits.get64(data, at)) < 0,
          "hashes do not ascend");
    }
  }

  private void readDirectory() {
    long at = HEADER_BYTES + (long) DIRECTORY_BYTES * tables.length;
    require(at <= data.length - END_BYTES, "the directory is cut off");
    for (int i = 0; i < tables.length; i++) {
      int entry = HEADER_BYTES + DIRECTORY_BYTES * i;
      long items = Bits.get32(data, entry + 4);
      int buckets = (int) Bits.get32(data, entry + 8) & 0xFFFF;
      Shape shape = Shape.read(Bits.get32(data, entry), buckets, data[entry + 10]);
      boolean dense = data[entry + 11] == 1;
      require(dense || data[entry + 11] == 0, "representation " + data[entry + 11]);
      require(!dense || items <= shape.entries(), "more items than entries");
      require(keyType != 0 || items == 0, "items without a key type");
      require(
          i == 0 || tables[i - 1].shape.compareTo(shape) < 0, "tables are not in ascending order");
      tables[i] =
          dense
              ? new DenseTable(shape, items, data, (int) at)
              : new SparseTable(shape, items, data, (int) at);
      at += tables[i].size();
      require(at <= data.length - END_BYTES, "a table is cut off");
    }
    long hashBytes = partial ? data.length - END_BYTES - at : 0;
    require(hashBytes % 8 == 0, "half a hash");
    require(hashBytes == 0 || keyType != 0, "hashes without a key type");
    require(at + hashBytes == data.length - END_BYTES, "more bytes than the directory says");
  }

  /**
   * The filter of bytes, which are copied, and of which every one is checked as PostgreSQL does.
   *
   * @param data those of {@code f::bytea} in SQL
   * @throws FormatException if they are not a filter
   */
  public static CuckooFilter of(byte[] data) {
    return of(data, LAST_KEY_TYPE);
  }

  /**
   * The filter of bytes of a newer server, which can have key types that this package does not
   * know.
   *
   * @param data those of {@code f::bytea} in SQL
   * @param lastKeyType the last number of a key type that is accepted: 27 or more
   * @throws FormatException if they are not a filter
   */
  public static CuckooFilter of(byte[] data, int lastKeyType) {
    return new CuckooFilter(data.clone(), lastKeyType);
  }

  /**
   * The filter of its text form, base64, also with the newline that {@code \copy} writes.
   *
   * @throws FormatException if the text is not a filter
   */
  public static CuckooFilter ofText(String text) {
    text = text.strip();
    try {
      require(text.length() % 4 == 0, "not base64");
      return new CuckooFilter(Base64.getDecoder().decode(text), LAST_KEY_TYPE);
    } catch (FormatException error) {
      throw error;
    } catch (IllegalArgumentException error) {
      throw new FormatException("not base64: " + error.getMessage());
    }
  }

  /**
   * The filter of the distinct keys, for their number and a rate of false positives of 0.001.
   *
   * @see #build(Iterable, long, double, long)
   */
  public static CuckooFilter build(Iterable<?> keys) {
    return build(keys, 0, 0.001, 0);
  }

  /**
   * The filter of the distinct keys, as {@code cuckoo_from_array} makes it in SQL. If PostgreSQL
   * makes a sparse sub-filter of these keys, the bytes are the same. If it makes a dense one, both
   * filters give the same answers.
   *
   * @param keys all of the same key type; null is skipped
   * @param capacity how many keys the filter is for, if more will be added or it will be combined
   *     with other filters; 0 for the number of the keys
   * @param fpr the rate of false positives, 2e-8 to 0.1
   * @param seed the seed of the hashes
   * @throws KeyTypeException if the key types of the keys differ
   * @throws IllegalArgumentException if a key is none, a parameter is out of range, or the filter
   *     would be too large
   */
  public static CuckooFilter build(Iterable<?> keys, long capacity, double fpr, long seed) {
    if (capacity < 0 || capacity > MAX_CAPACITY) {
      throw new IllegalArgumentException(
          "capacity must be at most " + MAX_CAPACITY + ": " + capacity);
    }
    if (!(fpr >= MIN_RATE && fpr <= MAX_RATE)) {
      throw new IllegalArgumentException("false-positive rate must be 2e-8 to 0.1: " + fpr);
    }
    Key first = null;
    LongStream.Builder builder = LongStream.builder();
    for (Object value : keys) {
      if (value != null) {
        Key key = Key.of(value);
        first = first == null ? key : first;
        requireType(key, first.type, first.signature);
        builder.add(key.hash(seed) ^ Long.MIN_VALUE); // sorted as if unsigned
      }
    }
    long[] codes = builder.build().sorted().toArray();
    int distinct = 0;
    for (int i = 0; i < codes.length; i++) {
      if (i == 0 || codes[i] != codes[distinct - 1]) {
        codes[distinct++] = codes[i];
      }
    }
    if (distinct > (capacity == 0 ? UNCOUNTED : capacity)) {
      capacity = distinct;
    }
    Shape shape = Shape.first(fpr, capacity);
    int items = 0;
    for (int i = 0; i < distinct; i++) {
      long code = shape.code(codes[i] ^ Long.MIN_VALUE);
      if (items < Table.MAX_COPIES || codes[items - Table.MAX_COPIES] != code) {
        codes[items++] = code;
      }
    }
    int at = HEADER_BYTES + DIRECTORY_BYTES;
    long bytes = at + new SparseTable(shape, items, null, at).size() + END_BYTES;
    long denseBytes = at + new DenseTable(shape, items, null, at).size() + END_BYTES;
    if (Math.max(bytes, denseBytes) > MAX_BYTES) {
      throw new IllegalArgumentException("the filter would be too large: " + bytes + " bytes");
    }
    byte[] data = new byte[(int) bytes];
    data[0] = VERSION;
    if (first != null) {
      data[2] = (byte) first.type;
      Bits.put32(data, 4, first.signature);
    }
    Bits.put64(data, 8, Double.doubleToLongBits(fpr));
    Bits.put64(data, 16, capacity);
    Bits.put64(data, 24, seed);
    data[32] = 1;
    Bits.put32(data, 36, shape.blocks());
    Bits.put32(data, 40, items);
    Bits.put32(data, 44, shape.buckets() | shape.bits() << 16);
    new SparseTable(shape, items, data, at).write(codes);
    return new CuckooFilter(data, 255);
  }

  /**
   * Whether the filter may contain the key; false is always right.
   *
   * @throws KeyTypeException if it is not of the filter's key type
   * @throws IllegalArgumentException if it is not a key, see {@link Key#of(Object)}
   * @throws IllegalStateException if this is a partial state of an aggregate
   */
  public boolean contains(Object key) {
    return count(key) > 0;
  }

  /**
   * The number of copies of the key, 0 to 8.
   *
   * @throws KeyTypeException if it is not of the filter's key type
   * @throws IllegalArgumentException if it is not a key, see {@link Key#of(Object)}
   * @throws IllegalStateException if this is a partial state of an aggregate
   */
  public int count(Object key) {
    Key found = Key.of(key);
    if (partial) {
      throw new IllegalStateException("a partial state is not a filter yet");
    }
    if (keyType == 0) {
      return 0;
    }
    requireType(found, keyType, signature);
    return countHash(found.hash(seed));
  }

  /** For each key, in the order of the collection, whether the filter may contain it. */
  public boolean[] containsEach(Collection<?> keys) {
    boolean[] answers = new boolean[keys.size()];
    int i = 0;
    for (Object key : keys) {
      answers[i++] = contains(key);
    }
    return answers;
  }

  /** The copies of a key with this hash, which was made with the filter's seed. */
  int countHash(long hash) {
    int copies = 0;
    for (Table table : tables) {
      copies += table.count(table.shape.code(hash));
    }
    return Math.min(copies, Table.MAX_COPIES);
  }

  private static void requireType(Key key, int type, int signature) {
    if (key.type != type) {
      throw new KeyTypeException("key type is " + key.type + ", not " + type);
    }
    if (key.signature != signature) {
      throw new KeyTypeException("the types of the parts of the key are others");
    }
  }

  /** A copy of the bytes, for {@code bytea::cuckoofilter} in SQL. */
  public byte[] toBytes() {
    return data.clone();
  }

  /** The text form, base64. */
  public String toText() {
    return Base64.getEncoder().encodeToString(data);
  }

  private double targetFpr() {
    return Double.longBitsToDouble(Bits.get64(data, 8));
  }

  private long capacity() {
    return Bits.get64(data, 16);
  }

  private boolean removable() {
    return (flags & NOT_REMOVABLE) == 0;
  }

  private double rateOf(Table table) {
    return removable()
        ? -Math.expm1(table.shape.logOfNone(table.items)) + 0.0
        : table.shape.sharedRate(table.items);
  }

  /** What the filter is. */
  public Info info() {
    List<Subfilter> all = subfilters();
    String representation =
        partial ? "partial" : all.isEmpty() ? null : all.get(0).representation();
    long items = partial ? (data.length - HEADER_BYTES - END_BYTES) / 8 : 0;
    double rates = 0;
    for (Subfilter one : all) {
      representation = one.representation().equals(representation) ? representation : "mixed";
      items += one.items();
      rates += removable() ? Math.log1p(-one.expectedFpr()) : one.expectedFpr();
    }
    return new Info(
        VERSION, representation, keyType, items, capacity(), targetFpr(),
        removable() ? -Math.expm1(rates) + 0.0 : Math.min(1, rates),
        all.size(), seed, removable());
  }

  /** The sub-filters, from the smallest to the largest. */
  public List<Subfilter> subfilters() {
    List<Subfilter> all = new ArrayList<>();
    for (Table table : tables) {
      Shape shape = table.shape;
      all.add(
          new Subfilter(
              table.items, shape.capacity(), shape.blocks(), shape.buckets(), shape.bits(),
              table.size(), table instanceof DenseTable ? "dense" : "sparse", rateOf(table)));
    }
    return List.copyOf(all);
  }

  /** Whether the bytes are equal, as {@code =} compares filters in SQL. */
  @Override
  public boolean equals(Object other) {
    return other instanceof CuckooFilter filter && Arrays.equals(data, filter.data);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(data);
  }

  @Override
  public String toString() {
    return info().toString();
  }
}
