// Answers for the library in Java; see java.py. Each line of standard input is a question, in fields
// separated by tabs; each line of the answer is JSON.

import java.io.*;
import java.nio.charset.StandardCharsets;
import java.time.*;
import java.time.temporal.ChronoUnit;
import java.util.*;
import java.util.stream.*;

import pgcuckoo.*;

public class Answers {
  static final LocalDateTime EPOCH = LocalDateTime.of(2000, 1, 1, 0, 0);

  static byte[] bytes(String hex) {
    return HexFormat.of().parseHex(hex);
  }

  static LocalDateTime time(String microseconds) {
    return EPOCH.plus(Long.parseLong(microseconds), ChronoUnit.MICROS);
  }

  /** The value of a field: a letter for its class, and its text. */
  static Object key(String field) {
    String text = field.substring(1);
    switch (field.charAt(0)) {
      case 'l': return Long.valueOf(text);
      case 'i': return Integer.valueOf(text);
      case 'b': return Boolean.valueOf(text);
      case 's': return new String(bytes(text), StandardCharsets.UTF_8);
      case 'x': return bytes(text);
      case 'f': return Double.valueOf(text);
      case 'u': return UUID.fromString(text);
      case 'd': return text.equals("infinity") ? LocalDate.MAX : text.equals("-infinity") ? LocalDate.MIN
          : EPOCH.toLocalDate().plusDays(Long.parseLong(text));
      case 't': return text.equals("infinity") ? LocalDateTime.MAX
          : text.equals("-infinity") ? LocalDateTime.MIN : time(text);
      case 'z': return text.equals("infinity") ? OffsetDateTime.MAX
          : text.equals("-infinity") ? OffsetDateTime.MIN : time(text).atOffset(ZoneOffset.UTC);
      case 'n': return time(text).toInstant(ZoneOffset.UTC);
      default:
        String[] parts = text.split("/", -1);
        byte[] description = bytes(parts[0]);
        return description.length == 1 ? Key.ofCanonical(description[0], bytes(parts[1]))
            : Key.ofCanonical(description, bytes(parts[1]));
    }
  }

  static String answer(String[] fields) {
    List<Object> keys = Arrays.stream(fields).skip(5).map(Answers::key).toList();
    List<Object> made = Arrays.stream(fields[4].split(" ")).filter(f -> !f.isEmpty()).map(Answers::key).toList();
    if (fields[0].equals("hashes")) {
      return keys.stream().map(key -> '"' + Long.toUnsignedString(Key.of(key).hash(Long.parseLong(fields[3]))) + '"')
          .collect(Collectors.joining(",", "{\"hashes\":[", "]}"));
    }
    try {
      CuckooFilter f = fields[0].equals("filter") ? CuckooFilter.of(bytes(fields[1]), Integer.parseInt(fields[2]))
          : CuckooFilter.build(made, Long.parseLong(fields[1]), Double.parseDouble(fields[2]), Long.parseLong(fields[3]));
      CuckooFilter.Info info = f.info();
      boolean[] each = info.representation() == "partial" ? new boolean[0] : f.containsEach(keys);
      int[] counts = keys.stream().mapToInt(f::count).toArray();
      for (int i = 0; i < counts.length; i++) {
        if (each[i] != counts[i] > 0) {
          throw new AssertionError("containsEach");
        }
      }
      return String.format("{\"data\":\"%s\",\"counts\":%s,\"format_version\":%d,\"representation\":%s,\"key_type\":%d,"
          + "\"items\":%d,\"capacity\":%d,\"target_fpr\":%s,\"expected_fpr\":%s,\"subfilters\":%d,\"seed\":%d,\"removable\":%s}",
          HexFormat.of().formatHex(f.toBytes()), Arrays.toString(counts), info.formatVersion(),
          info.representation() == null ? null : '"' + info.representation() + '"', info.keyType(), info.items(),
          info.capacity(), info.targetFpr(), info.expectedFpr(), info.subfilters(), info.seed(), info.removable());
    } catch (FormatException error) {
      return "{\"refused\":true}";
    }
  }

  public static void main(String[] arguments) throws IOException {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      System.out.println(answer(line.split("\t", -1)));
    }
  }
}
