package pgcuckoo;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Little-endian numbers and fields of bits in an array of bytes, at any offset. */
final class Bits {
  static final long MASK32 = 0xFFFFFFFFL;

  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private Bits() {}

  /** An unsigned number of 32 bits. */
  static long get32(byte[] data, int at) {
    return (int) INT.get(data, at) & MASK32;
  }

  static void put32(byte[] data, int at, int value) {
    INT.set(data, at, value);
  }

  static long get64(byte[] data, int at) {
    return (long) LONG.get(data, at);
  }

  static void put64(byte[] data, int at, long value) {
    LONG.set(data, at, value);
  }

  /** At least 57 bits from a bit on, those below 64 of the array that follow. */
  static long word(byte[] data, long bit) {
    return get64(data, (int) (bit >>> 3)) >>> (bit & 7);
  }

  /** The number of 0 to 63 bits that begins at a bit. The array has 8 more bytes. */
  static long get(byte[] data, long bit, int count) {
    long value = word(data, bit);
    int shift = (int) bit & 7;
    if (shift + count > 64) {
      value |= (long) data[(int) (bit >>> 3) + 8] << 64 - shift;
    }
    return value & (1L << count) - 1;
  }

  /** Stores a number of up to 63 bits where only zeros are. The array has 8 more bytes. */
  static void put(byte[] data, long bit, long value, int count) {
    int at = (int) (bit >>> 3);
    int shift = (int) bit & 7;
    put64(data, at, get64(data, at) | value << shift);
    if (shift + count > 64) {
      data[at + 8] |= (byte) (value >>> 64 - shift);
    }
  }
}
