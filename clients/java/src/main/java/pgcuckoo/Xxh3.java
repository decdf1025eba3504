package pgcuckoo;

import static pgcuckoo.Bits.MASK32;
import static pgcuckoo.Bits.get32;
import static pgcuckoo.Bits.get64;
import static pgcuckoo.Bits.put64;

import java.util.HexFormat;

/**
 * XXH3, the 64-bit hash with a seed and the default secret.
 *
 * <p>The algorithm and its constants are those of xxHash, Copyright (c) Yann Collet, BSD 2-Clause
 * License, https://www.xxhash.com.
 */
final class Xxh3 {
  private static final long PRIME32_1 = 0x9E3779B1L;
  private static final long PRIME32_2 = 0x85EBCA77L;
  private static final long PRIME32_3 = 0xC2B2AE3DL;
  private static final long PRIME64_1 = 0x9E3779B185EBCA87L;
  private static final long PRIME64_2 = 0xC2B2AE3D27D4EB4FL;
  private static final long PRIME64_3 = 0x165667B19E3779F9L;
  private static final long PRIME64_4 = 0x85EBCA77C2B2AE63L;
  private static final long PRIME64_5 = 0x27D4EB2F165667C5L;
  private static final long PRIME_MX1 = 0x165667919E3779F9L;
  private static final long PRIME_MX2 = 0x9FB21C651E98DF25L;

  private static final byte[] SECRET =
      HexFormat.of()
          .parseHex(
              "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
                  + "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
                  + "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
                  + "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
                  + "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
                  + "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e");

  private static final int MIN_SECRET = 136;
  private static final int STRIPE = 64;
  private static final int LAST_STRIPE = SECRET.length - STRIPE;
  private static final int BLOCK_STRIPES = LAST_STRIPE / 8;

  private Xxh3() {}

  static long hash(byte[] in, long seed) {
    int length = in.length;
    if (length <= 16) {
      return length > 8 ? of9To16(in, seed) : length > 3 ? of4To8(in, seed) : of0To3(in, seed);
    }
    if (length <= 240) {
      return length <= 128 ? of17To128(in, seed) : of129To240(in, seed);
    }
    return of241(in, seed);
  }

  private static long of0To3(byte[] in, long seed) {
    int length = in.length;
    if (length == 0) {
      return avalanche64(seed ^ get64(SECRET, 56) ^ get64(SECRET, 64));
    }
    int middle = in[length >> 1] & 255;
    int combined = (in[0] & 255) << 16 | middle << 24 | in[length - 1] & 255 | length << 8;
    return avalanche64(combined & MASK32 ^ (get32(SECRET, 0) ^ get32(SECRET, 4)) + seed);
  }

  private static long of4To8(byte[] in, long seed) {
    int length = in.length;
    long mixed = seed ^ (long) Integer.reverseBytes((int) seed) << 32;
    long h =
        get32(in, length - 4) + (get32(in, 0) << 32)
            ^ (get64(SECRET, 8) ^ get64(SECRET, 16)) - mixed;
    h ^= Long.rotateLeft(h, 49) ^ Long.rotateLeft(h, 24);
    h *= PRIME_MX2;
    h ^= (h >>> 35) + length;
    h *= PRIME_MX2;
    return h ^ h >>> 28;
  }

  private static long of9To16(byte[] in, long seed) {
    int length = in.length;
    long low = get64(in, 0) ^ (get64(SECRET, 24) ^ get64(SECRET, 32)) + seed;
    long high = get64(in, length - 8) ^ (get64(SECRET, 40) ^ get64(SECRET, 48)) - seed;
    return avalanche(length + Long.reverseBytes(low) + high + fold(low, high));
  }

  private static long of17To128(byte[] in, long seed) {
    int length = in.length;
    long sum = length * PRIME64_1;
    for (int i = (length - 1) / 32; i >= 0; i--) {
      sum += mix16(in, 16 * i, 32 * i, seed);
      sum += mix16(in, length - 16 * (i + 1), 32 * i + 16, seed);
    }
    return avalanche(sum);
  }

  private static long of129To240(byte[] in, long seed) {
    int length = in.length;
    long sum = length * PRIME64_1;
    for (int i = 0; i < 8; i++) {
      sum += mix16(in, 16 * i, 16 * i, seed);
    }
    sum = avalanche(sum);
    for (int i = 8; i < length / 16; i++) {
      sum += mix16(in, 16 * i, 16 * (i - 8) + 3, seed);
    }
    return avalanche(sum + mix16(in, length - 16, MIN_SECRET - 17, seed));
  }

  private static long of241(byte[] in, long seed) {
    byte[] secret = new byte[SECRET.length];
    for (int at = 0; at < SECRET.length; at += 16) {
      put64(secret, at, get64(SECRET, at) + seed);
      put64(secret, at + 8, get64(SECRET, at + 8) - seed);
    }
    long[] sums = {
      PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1
    };
    int stripes = (in.length - 1) / STRIPE;
    for (int i = 0; i < stripes; i++) {
      accumulate(sums, in, STRIPE * i, secret, 8 * (i % BLOCK_STRIPES));
      if (i % BLOCK_STRIPES == BLOCK_STRIPES - 1) {
        for (int j = 0; j < 8; j++) {
          long sum = sums[j];
          sums[j] = (sum ^ sum >>> 47 ^ get64(secret, LAST_STRIPE + 8 * j)) * PRIME32_1;
        }
      }
    }
    accumulate(sums, in, in.length - STRIPE, secret, LAST_STRIPE - 7);
    long result = in.length * PRIME64_1;
    for (int i = 0; i < 8; i += 2) {
      result +=
          fold(sums[i] ^ get64(secret, 11 + 8 * i), sums[i + 1] ^ get64(secret, 19 + 8 * i));
    }
    return avalanche(result);
  }

  private static void accumulate(long[] sums, byte[] in, int at, byte[] secret, int secretAt) {
    for (int i = 0; i < 8; i++) {
      long value = get64(in, at + 8 * i);
      long keyed = value ^ get64(secret, secretAt + 8 * i);
      sums[i ^ 1] += value;
      sums[i] += (keyed & MASK32) * (keyed >>> 32);
    }
  }

  private static long mix16(byte[] in, int at, int secretAt, long seed) {
    return fold(
        get64(in, at) ^ get64(SECRET, secretAt) + seed,
        get64(in, at + 8) ^ get64(SECRET, secretAt + 8) - seed);
  }

  /** The halves of the unsigned product of 128 bits, combined with xor. */
  private static long fold(long a, long b) {
    return a * b ^ Math.multiplyHigh(a, b) + (a >> 63 & b) + (b >> 63 & a);
  }

  private static long avalanche(long h) {
    h = (h ^ h >>> 37) * PRIME_MX1;
    return h ^ h >>> 32;
  }

  private static long avalanche64(long h) {
    h = (h ^ h >>> 33) * PRIME64_2;
    h = (h ^ h >>> 29) * PRIME64_3;
    return h ^ h >>> 32;
  }
}
