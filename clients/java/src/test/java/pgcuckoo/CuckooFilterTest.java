package pgcuckoo;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Reads and makes the filters of test/golden, which are PostgreSQL's. No server is needed. */
class CuckooFilterTest {
  /** test/clients/java.py computes this, too, with the library of xxHash. */
  private static final long HASHES_OF_ALL_LENGTHS = 0xfc0fd83fe13b0d94L;

  private static final Path GOLDEN = Path.of(System.getProperty("golden", "../../test/golden"));

  private static List<String[]> lines(String name) throws IOException {
    List<String> lines = Files.readAllLines(GOLDEN.resolve(name));
    return lines.stream().skip(1).map(line -> line.split("\t", -1)).toList();
  }

  private static Map<String, String> filters() throws IOException {
    Map<String, String> filters = new HashMap<>();
    for (String[] line : lines("filters.tsv")) {
      filters.put(line[0], line[4]);
    }
    assertTrue(filters.size() > 120);
    return filters;
  }

  private static CuckooFilter golden(String name) throws IOException {
    return CuckooFilter.ofText(filters().get(name));
  }

  @Test
  void hashesOfAllLengths() {
    byte[] bytes = new byte[2048];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (i * 131 + i / 256);
    }
    long sum = 0;
    for (int length = 0; length <= bytes.length; length++) {
      sum = sum * 31 + Xxh3.hash(Arrays.copyOf(bytes, length), sum);
    }
    assertEquals(HASHES_OF_ALL_LENGTHS, sum);
  }

  @Test
  void goldenFiltersHaveTheCopiesThatTheServerCounts() throws IOException {
    for (String[] line : lines("filters.tsv")) {
      // A new key type needs no change here.
      byte[] data = java.util.Base64.getDecoder().decode(line[4]);
      CuckooFilter f = CuckooFilter.of(data, 255);
      assertEquals(line[4], f.toText());
      assertArrayEquals(data, f.toBytes());
      boolean partial = "partial".equals(f.info().representation());
      for (String answer : line[5].split(" ")) {
        String[] parts = answer.split("\\*");
        if (!partial) {
          long hash = Long.parseUnsignedLong(parts[0], 16);
          assertEquals(Integer.parseInt(parts[1]), f.countHash(hash), line[0]);
        }
      }
      if (partial) {
        assertThrows(IllegalStateException.class, () -> f.contains("x"), line[0]);
      }
    }
  }

  @Test
  void malformedBytesAreRefused() throws IOException {
    for (String[] line : lines("malformed.tsv")) {
      byte[] data = HexFormat.of().parseHex(line[1]);
      assertThrows(FormatException.class, () -> CuckooFilter.of(data), line[0]);
    }
    assertEquals(67, lines("malformed.tsv").size());
    assertThrows(FormatException.class, () -> CuckooFilter.ofText("A"));
    assertThrows(FormatException.class, () -> CuckooFilter.ofText("AQ*="));
    assertThrows(FormatException.class, () -> CuckooFilter.ofText(""));
  }

  @Test
  void newKeyTypesAreReadIfAskedFor() {
    CuckooFilter f = CuckooFilter.build(List.of(Key.ofCanonical(28, new byte[] {1})));
    assertThrows(FormatException.class, () -> CuckooFilter.of(f.toBytes()));
    CuckooFilter read = CuckooFilter.of(f.toBytes(), 28);
    assertTrue(read.contains(Key.ofCanonical(28, new byte[] {1})));
    assertThrows(KeyTypeException.class, () -> read.contains(1));
  }

  @Test
  void theTextFormMayEndInANewline() throws IOException {
    assertEquals(golden("one"), CuckooFilter.ofText(filters().get("one") + "\n"));
    assertEquals(golden("one"), CuckooFilter.ofText(filters().get("one") + "\r\n"));
  }

  @Test
  void valuesOfJavaAreKeys() throws IOException {
    OffsetDateTime noon = OffsetDateTime.of(2013, 8, 1, 14, 0, 0, 0, ZoneOffset.ofHours(2));
    Map<String, List<Object>> present = new HashMap<>();
    present.put("type-smallint", List.of((short) 0, -1, 32767L, (byte) 0));
    present.put("type-bigint", List.of(0, Long.MIN_VALUE, Long.MAX_VALUE));
    present.put("type-boolean", List.of(true, false));
    present.put("type-text", List.of("", "cuckoo", "Kuckuck äöü", "カッコウ", "k".repeat(300)));
    present.put("type-bytea", List.of(new byte[0], new byte[] {0, -1}));
    present.put("type-double", List.of(0.1, 1e308, Double.NaN, Float.NaN));
    present.put("type-real", List.of(0.1f, 0f, -0.0, Double.NaN, Float.NEGATIVE_INFINITY));
    present.put("type-uuid", List.of(UUID.fromString("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")));
    present.put(
        "type-date",
        List.of(LocalDate.of(2000, 1, 1), LocalDate.of(1969, 7, 20), LocalDate.MAX));
    present.put(
        "type-timestamp", List.of(LocalDateTime.of(2013, 8, 1, 12, 0), LocalDateTime.MIN));
    present.put(
        "type-timestamptz", List.of(noon, noon.toInstant(), OffsetDateTime.MAX, Instant.MAX));
    present.put("type-enum", List.of(Key.ofCanonical(22, "sad".getBytes(UTF_8))));
    byte[] row = HexFormat.of().parseHex("180101000000020000000200000001000000");
    for (Map.Entry<String, List<Object>> entry : present.entrySet()) {
      CuckooFilter f = golden(entry.getKey());
      for (boolean found : f.containsEach(entry.getValue())) {
        assertTrue(found, entry.getKey());
      }
      assertThrows(KeyTypeException.class, () -> f.contains(Key.ofCanonical(21, row)));
      assertThrows(NullPointerException.class, () -> f.contains(null));
      assertThrows(IllegalArgumentException.class, () -> f.contains(new Object()));
    }
    assertFalse(golden("type-double").contains(0.1f));
    assertFalse(golden("type-date").contains(LocalDate.MIN));
  }

  @Test
  void keysMadeOfPartsNeedTheirDescription() throws IOException {
    CuckooFilter f = golden("type-array-integer");
    byte[] bytes =
        HexFormat.of()
            .parseHex(
                "01010000000300000001000000080000000100000000000000ffffffff080000000300000000000000");
    assertTrue(f.contains(Key.ofCanonical(new byte[] {24, 1}, bytes)));
    assertThrows(
        KeyTypeException.class, () -> f.contains(Key.ofCanonical(new byte[] {24, 4}, bytes)));
    assertThrows(IllegalArgumentException.class, () -> Key.ofCanonical(24, bytes));
    assertThrows(IllegalArgumentException.class, () -> Key.ofCanonical(new byte[] {24}, bytes));
  }

  @Test
  void valuesThatPostgresqlDoesNotHaveAreRefused() {
    for (Object value :
        List.of(
            "a\0b", "?\ud800", "\ud800 and more", "\udc00", Instant.EPOCH.plusNanos(1),
            LocalDate.of(9_999_999, 1, 1), LocalDateTime.of(300_000, 1, 1, 0, 0), 'c')) {
      assertThrows(IllegalArgumentException.class, () -> Key.of(value), value.toString());
    }
    for (String text : List.of("?", "what? 8 bytes", "\ud83d\udc26?", "ä?")) {
      assertTrue(CuckooFilter.build(List.of(text)).contains(text));
    }
  }

  @Test
  void theBytesAreThoseOfPostgresql() throws IOException {
    assertEquals(golden("one"), CuckooFilter.build(List.of(42), 1, 0.001, 0));
    List<Object> keys = new ArrayList<>(IntStream.rangeClosed(1, 60).boxed().toList());
    keys.add(null);
    CuckooFilter f = CuckooFilter.build(keys, 60, 0.1, 0);
    assertEquals(60, f.info().items());
    assertEquals(60, f.info().capacity());
    assertEquals("sparse", f.info().representation());
    assertEquals(0.046324, f.info().expectedFpr(), 1e-6);
    assertEquals(1, f.subfilters().size());
    assertEquals(7, f.subfilters().get(0).fingerprintBits());
    // Counts of the dense filter of the same keys in docs/format.md
    for (int i = 1; i <= 120; i++) {
      int copies = List.of(43, 49, 52, 60).contains(i) ? 2 : i <= 60 || i == 79 || i == 82 ? 1 : 0;
      assertEquals(copies, f.count(i));
    }
    assertEquals(f.hashCode(), CuckooFilter.ofText(f.toText()).hashCode());
    CuckooFilter empty = CuckooFilter.build(List.of());
    assertFalse(empty.contains("x") || empty.contains(1));
  }

  @Test
  void wrongParametersAreRefused() {
    List<Integer> one = List.of(1);
    for (double fpr : new double[] {0, 1e-8, 0.2, Double.NaN}) {
      assertThrows(IllegalArgumentException.class, () -> CuckooFilter.build(one, 0, fpr, 0));
    }
    for (long capacity : new long[] {-1, 1_517_813_761L, 1_500_000_000L}) {
      assertThrows(
          IllegalArgumentException.class, () -> CuckooFilter.build(one, capacity, 0.001, 0));
    }
    assertThrows(KeyTypeException.class, () -> CuckooFilter.build(List.of(1, "1")));
  }

  @Test
  void hashesAndShardsAreThoseOfPostgresql() {
    assertEquals(0x19b8586d4fd9c2ccL, Key.of("cuckoo").hash(0));
    assertEquals(2, Key.of(1).shard(10));
    assertThrows(IllegalArgumentException.class, () -> Key.of(1).shard(0));
  }
}
