package pgcuckoo;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.UUID;

/**
 * A key: its key type and its canonical bytes, which docs/format.md describes under "Keys".
 *
 * <p>The methods of {@link CuckooFilter} take values of these classes as keys, and make keys of
 * them with {@link #of(Object)}:
 *
 * <table>
 *   <caption>Classes and key types</caption>
 *   <tr><th>class</th><th>key type</th></tr>
 *   <tr><td>Long, Integer, Short, Byte</td><td>1 integer</td></tr>
 *   <tr><td>Boolean</td><td>2 boolean</td></tr>
 *   <tr><td>String</td><td>4 text; of char(n) without the blanks at its end</td></tr>
 *   <tr><td>byte[]</td><td>5 bytea</td></tr>
 *   <tr><td>Double, Float</td><td>7 double precision</td></tr>
 *   <tr><td>UUID</td><td>10 uuid</td></tr>
 *   <tr><td>LocalDate</td><td>11 date</td></tr>
 *   <tr><td>LocalDateTime</td><td>14 timestamp</td></tr>
 *   <tr><td>OffsetDateTime, Instant</td><td>15 timestamptz</td></tr>
 * </table>
 *
 * <p>MIN and MAX of the classes of dates and times are -infinity and infinity, as in JDBC. Times
 * must be in whole microseconds, as those of PostgreSQL: {@code
 * Instant.now().truncatedTo(ChronoUnit.MICROS)}.
 *
 * <p>Keys of all other key types are made of their canonical bytes:
 *
 * <pre>{@code
 * Key.ofCanonical(22, "sad".getBytes(UTF_8));                  // a label of an enum
 * Key.ofCanonical(new byte[] {25, 2, 0, 1, 4}, canonicalBytes) // a row of integer and text
 * }</pre>
 */
public final class Key {
  private static final int INTEGER = 1;
  private static final int BOOLEAN = 2;
  private static final int TEXT = 4;
  private static final int BYTEA = 5;
  private static final int DOUBLE = 7;
  private static final int UUID = 10;
  private static final int DATE = 11;
  private static final int TIMESTAMP = 14;
  private static final int TIMESTAMPTZ = 15;
  private static final int ARRAY = 24;
  private static final int MULTIRANGE = 27;

  private static final long TYPE_FACTOR = 0x9E3779B97F4A7C15L;
  private static final long SHARD_SEED = 0x243F6A8885A308D3L;
  private static final long LOW_BITS = 0x0101010101010101L; // of eight bytes
  private static final LocalDate EPOCH = LocalDate.of(2000, 1, 1);
  private static final long EPOCH_SECOND = 86_400 * EPOCH.toEpochDay();

  final int type;
  final int signature; // 0 of a scalar
  private final byte[] bytes;

  private Key(int type, int signature, byte[] bytes) {
    this.type = type;
    this.signature = signature;
    this.bytes = bytes;
  }

  /**
   * The key of a value.
   *
   * @param value of one of the classes above, or a key already
   * @throws IllegalArgumentException if it is of another class, or PostgreSQL has no such value: a
   *     text with a zero or half a surrogate pair, or a time that is too large or not in whole
   *     microseconds
   */
  public static Key of(Object value) {
    // The most frequent class here, the others elsewhere: the JIT compiler inlines short methods.
    return value instanceof String text ? ofText(text) : ofOther(value);
  }

  private static Key ofOther(Object value) {
    if (value instanceof Key key) {
      return key;
    }
    if (value instanceof Long
        || value instanceof Integer
        || value instanceof Short
        || value instanceof Byte) {
      return new Key(INTEGER, 0, bytesOf(((Number) value).longValue()));
    }
    if (value instanceof UUID uuid) {
      byte[] bytes = new byte[16];
      Bits.put64(bytes, 0, Long.reverseBytes(uuid.getMostSignificantBits()));
      Bits.put64(bytes, 8, Long.reverseBytes(uuid.getLeastSignificantBits()));
      return new Key(UUID, 0, bytes);
    }
    if (value instanceof byte[] bytes) {
      return new Key(BYTEA, 0, bytes.clone());
    }
    if (value instanceof Boolean bool) {
      return new Key(BOOLEAN, 0, new byte[] {(byte) (bool ? 1 : 0)});
    }
    if (value instanceof Double || value instanceof Float) {
      double number = ((Number) value).doubleValue() + 0.0; // -0 + 0 is 0
      return new Key(DOUBLE, 0, bytesOf(Double.doubleToLongBits(number))); // the only NaN
    }
    if (value instanceof LocalDate date) {
      return ofDate(date);
    }
    if (value instanceof LocalDateTime time) {
      long second = time.toEpochSecond(ZoneOffset.UTC);
      return ofTime(
          TIMESTAMP, time, second, time.getNano(), LocalDateTime.MIN, LocalDateTime.MAX);
    }
    if (value instanceof OffsetDateTime time) {
      long second = time.toEpochSecond();
      return ofTime(
          TIMESTAMPTZ, time, second, time.getNano(), OffsetDateTime.MIN, OffsetDateTime.MAX);
    }
    if (value instanceof Instant time) {
      long second = time.getEpochSecond();
      return ofTime(TIMESTAMPTZ, time, second, time.getNano(), Instant.MIN, Instant.MAX);
    }
    if (value == null) {
      throw new NullPointerException("NULL is not a key");
    }
    throw new IllegalArgumentException(
        "use Key.ofCanonical for keys such as " + value.getClass().getName());
  }

  /**
   * The key of canonical bytes.
   *
   * @param type the number of a key type in docs/format.md, but none made of parts (24 to 27)
   * @param canonical the canonical bytes, which are copied
   */
  public static Key ofCanonical(int type, byte[] canonical) {
    if (type < 1 || type > 255 || type >= ARRAY && type <= MULTIRANGE) {
      throw new IllegalArgumentException("key type " + type + " needs a description, or is none");
    }
    return new Key(type, 0, canonical.clone());
  }

  /**
   * The key of canonical bytes of a key type that is made of parts: array, composite, range or
   * multirange.
   *
   * @param description the description of the type, which docs/format.md explains under
   *     "Signature", for example the bytes 24 and 1 for an array of integers
   * @param canonical the canonical bytes, which are copied
   */
  public static Key ofCanonical(byte[] description, byte[] canonical) {
    if (description.length < 2) {
      throw new IllegalArgumentException("a description has at least two bytes");
    }
    int signature = (int) Xxh3.hash(description, 0);
    return new Key(description[0] & 255, signature == 0 ? 1 : signature, canonical.clone());
  }

  /**
   * The hash of the key, as {@code cuckoo_hash(key, seed)} in SQL.
   *
   * @param seed that of the filter; 0 by default in SQL
   */
  public long hash(long seed) {
    return Xxh3.hash(bytes, seed + type * TYPE_FACTOR);
  }

  /**
   * The shard of the key, as {@code cuckoo_shard(key, shards)} in SQL.
   *
   * @param shards at least 1
   * @return 0 to shards - 1
   */
  public int shard(int shards) {
    if (shards < 1) {
      throw new IllegalArgumentException(shards + " shards");
    }
    return (int) ((hash(SHARD_SEED) >>> 32) * shards >>> 32);
  }

  private static byte[] bytesOf(long number) {
    byte[] bytes = new byte[8];
    Bits.put64(bytes, 0, number);
    return bytes;
  }

  private static Key ofText(String text) {
    byte[] bytes = text.getBytes(UTF_8); // with ? for what has no UTF-8
    if (mayBeWrong(bytes) && (text.indexOf(0) >= 0 || !new String(bytes, UTF_8).equals(text))) {
      throw new IllegalArgumentException("a text with a zero or half a surrogate pair");
    }
    return new Key(TEXT, 0, bytes);
  }

  /** Whether there may be a zero or a question mark among the bytes; reads eight at once. */
  private static boolean mayBeWrong(byte[] bytes) {
    int last = bytes.length - 8;
    long found = last < 0 ? -1 : zeroOrQuestion(Bits.get64(bytes, last));
    for (int i = 0; i < last; i += 8) {
      found |= zeroOrQuestion(Bits.get64(bytes, i));
    }
    return found != 0;
  }

  private static long zeroOrQuestion(long word) {
    long other = word ^ '?' * LOW_BITS;
    return (word - LOW_BITS & ~word | other - LOW_BITS & ~other) & LOW_BITS << 7;
  }

  private static Key ofDate(LocalDate date) {
    long days = date.toEpochDay() - EPOCH.toEpochDay();
    if (date.equals(LocalDate.MIN) || date.equals(LocalDate.MAX)) {
      days = date.equals(LocalDate.MIN) ? Integer.MIN_VALUE : Integer.MAX_VALUE;
    } else if (Math.abs(days) >= Integer.MAX_VALUE) {
      throw new IllegalArgumentException("PostgreSQL has no date " + date);
    }
    byte[] bytes = new byte[4];
    Bits.put32(bytes, 0, (int) days);
    return new Key(DATE, 0, bytes);
  }

  private static <T> Key ofTime(int type, T time, long second, int nano, T first, T last) {
    if (time.equals(first) || time.equals(last)) {
      return new Key(type, 0, bytesOf(time.equals(first) ? Long.MIN_VALUE : Long.MAX_VALUE));
    }
    second -= EPOCH_SECOND;
    if (Math.abs(second) >= Long.MAX_VALUE / 1_000_000 || nano % 1000 != 0) {
      throw new IllegalArgumentException(
          "PostgreSQL has no " + time + ": truncatedTo(ChronoUnit.MICROS) gives microseconds");
    }
    return new Key(type, 0, bytesOf(second * 1_000_000 + nano / 1000));
  }
}
