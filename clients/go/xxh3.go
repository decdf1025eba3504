package pgcuckoo

import (
	"encoding/binary"
	"math/bits"
)

// The default secret and the primes of XXH3
const (
	secret = "\xb8\xfe\x6c\x39\x23\xa4\x4b\xbe\x7c\x01\x81\x2c\xf7\x21\xad\x1c\xde\xd4\x6d\xe9\x83\x90\x97\xdb\x72\x40\xa4\xa4\xb7\xb3\x67\x1f" +
		"\xcb\x79\xe6\x4e\xcc\xc0\xe5\x78\x82\x5a\xd0\x7d\xcc\xff\x72\x21\xb8\x08\x46\x74\xf7\x43\x24\x8e\xe0\x35\x90\xe6\x81\x3a\x26\x4c" +
		"\x3c\x28\x52\xbb\x91\xc3\x00\xcb\x88\xd0\x65\x8b\x1b\x53\x2e\xa3\x71\x64\x48\x97\xa2\x0d\xf9\x4e\x38\x19\xef\x46\xa9\xde\xac\xd8" +
		"\xa8\xfa\x76\x3f\xe3\x9c\x34\x3f\xf9\xdc\xbb\xc7\xc7\x0b\x4f\x1d\x8a\x51\xe0\x4b\xcd\xb4\x59\x31\xc8\x9f\x7e\xc9\xd9\x78\x73\x64" +
		"\xea\xc5\xac\x83\x34\xd3\xeb\xc3\xc5\x81\xa0\xff\xfa\x13\x63\xeb\x17\x0d\xdd\x51\xb7\xf0\xda\x49\xd3\x16\x55\x26\x29\xd4\x68\x9e" +
		"\x2b\x16\xbe\x58\x7d\x47\xa1\xfc\x8f\xf8\xb8\xd1\x7a\xd0\x31\xce\x45\xcb\x3a\x8f\x95\x16\x04\x28\xaf\xd7\xfb\xca\xbb\x4b\x40\x7e"
	prime64x1, prime64x2, prime64x3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
	primeMx1, primeMx2              = 0x165667919E3779F9, 0x9FB21C651E98DF25
)

func read32(s string, at int) uint64 {
	b := s[at : at+4]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24
}

// read64 compiles to one load.
func read64(s string, at int) uint64 {
	b := s[at : at+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

func multiplyFold(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

func avalanche(h uint64) uint64 {
	h = (h ^ h>>37) * primeMx1
	return h ^ h>>32
}

// mix16 mixes 16 bytes with 16 of the secret.
func mix16(s string, at, secretAt int, seed uint64) uint64 {
	return multiplyFold(read64(s, at)^(read64(secret, secretAt)+seed),
		read64(s, at+8)^(read64(secret, secretAt+8)-seed))
}

// xxh3 is XXH3_64bits_withSeed of xxHash 0.8.
func xxh3(s string, seed uint64) uint64 {
	n := len(s)
	h := uint64(n) * prime64x1
	switch {
	case n <= 3:
		h = seed ^ read64(secret, 56) ^ read64(secret, 64)
		if n > 0 {
			h = uint64(s[0])<<16 | uint64(s[n/2])<<24 | uint64(s[n-1]) | uint64(n)<<8
			h ^= (read32(secret, 0) ^ read32(secret, 4)) + seed
		}
		h = (h ^ h>>33) * prime64x2
		h = (h ^ h>>29) * prime64x3
		return h ^ h>>32
	case n <= 8:
		seed ^= uint64(bits.ReverseBytes32(uint32(seed))) << 32
		h = (read32(s, n-4) | read32(s, 0)<<32) ^ ((read64(secret, 8) ^ read64(secret, 16)) - seed)
		h ^= bits.RotateLeft64(h, 49) ^ bits.RotateLeft64(h, 24)
		h *= primeMx2
		h = (h ^ (h>>35 + uint64(n))) * primeMx2
		return h ^ h>>28
	case n <= 16:
		low := read64(s, 0) ^ ((read64(secret, 24) ^ read64(secret, 32)) + seed)
		high := read64(s, n-8) ^ ((read64(secret, 40) ^ read64(secret, 48)) - seed)
		h = uint64(n) + bits.ReverseBytes64(low) + high + multiplyFold(low, high)
	case n <= 128:
		for i := (n - 1) / 32; i >= 0; i-- {
			h += mix16(s, 16*i, 32*i, seed) + mix16(s, n-16*i-16, 32*i+16, seed)
		}
	case n <= 240:
		for i := 0; i < 8; i++ {
			h += mix16(s, 16*i, 16*i, seed)
		}
		h = avalanche(h)
		for i := 8; i < n/16; i++ {
			h += mix16(s, 16*i, 16*(i-8)+3, seed)
		}
		h += mix16(s, n-16, 136-17, seed)
	default:
		h += xxh3Long(s, seed)
	}
	return avalanche(h)
}

func xxh3Long(s string, seed uint64) (h uint64) {
	var seeded [len(secret)]byte
	for i := 0; i < len(secret); i += 16 {
		binary.LittleEndian.PutUint64(seeded[i:], read64(secret, i)+seed)
		binary.LittleEndian.PutUint64(seeded[i+8:], read64(secret, i+8)-seed)
	}
	key := func(at int) uint64 { return binary.LittleEndian.Uint64(seeded[at:]) }
	lanes := [8]uint64{0xC2B2AE3D, prime64x1, prime64x2, prime64x3, 0x85EBCA77C2B2AE63, 0x85EBCA77, 0x27D4EB2F165667C5, 0x9E3779B1}
	stripe := func(at, keyAt int) {
		for i := range lanes {
			value := read64(s, at+8*i)
			keyed := value ^ key(keyAt+8*i)
			lanes[i^1] += value
			lanes[i] += (keyed & 0xFFFFFFFF) * (keyed >> 32)
		}
	}
	for i := 0; i < (len(s)-1)/64; i++ {
		stripe(64*i, 8*(i%16))
		for j := range lanes {
			if i%16 == 15 {
				lanes[j] = (lanes[j] ^ lanes[j]>>47 ^ key(128+8*j)) * 0x9E3779B1
			}
		}
	}
	stripe(len(s)-64, len(secret)-64-7)
	for i := 0; i < 8; i += 2 {
		h += multiplyFold(lanes[i]^key(11+8*i), lanes[i+1]^key(11+8*i+8))
	}
	return h
}
