package pgcuckoo

import (
	"encoding/binary"
	"math"
	"time"
)

// A kind is a key type and, for arrays, composites and ranges, the signature of their parts. Key
// type 0 is none.
type kind struct {
	keyType   uint8
	signature uint32
}

// A Key is a value of an SQL type. The functions that make keys are named as their key types; use
// Canonical for those of which Go has no values. The zero Key is none.
type Key struct {
	kind
	size      uint8 // bytes of low and high that are the key; 0: it is data
	low, high uint64
	data      string
}

// Keys makes keys of values: Keys(emails, Text).
func Keys[T any](values []T, key func(T) Key) []Key {
	keys := make([]Key, len(values))
	for i, value := range values {
		keys[i] = key(value)
	}
	return keys
}

func fixed(keyType, size uint8, low uint64) Key {
	return Key{kind: kind{keyType: keyType}, size: size, low: low}
}

// Integer makes a key of smallint, integer, bigint or oid.
func Integer[T ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32](i T) Key {
	return fixed(1, 8, uint64(int64(i)))
}

// Boolean makes a key of boolean.
func Boolean(b bool) Key {
	if b {
		return fixed(2, 1, 1)
	}
	return fixed(2, 1, 0)
}

// Text makes a key of text, varchar or name, in UTF-8, or of char(n) without blanks at its end.
func Text(s string) Key { return Key{kind: kind{keyType: 4}, data: s} }

// Bytea makes a key of bytea.
func Bytea(b []byte) Key { return Key{kind: kind{keyType: 5}, data: string(b)} }

// Double makes a key of double precision, or of real, whose value is a float32.
func Double(d float64) Key {
	if math.IsNaN(d) {
		return fixed(7, 8, 0x7FF8000000000000)
	}
	return fixed(7, 8, math.Float64bits(d+0)) // -0 is 0
}

// UUID makes a key of uuid. The UUIDs of most packages convert to [16]byte.
func UUID(u [16]byte) Key {
	low, high := binary.LittleEndian.Uint64(u[:8]), binary.LittleEndian.Uint64(u[8:])
	return Key{kind: kind{keyType: 10}, size: 16, low: low, high: high}
}

// Date makes a key of date: the day of t in its location.
func Date(t time.Time) Key {
	year, month, day := t.Date()
	return fixed(11, 4, uint64((time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix()-epoch)/86400))
}

// Timestamp makes a key of timestamp: day and time of t in its location, without nanoseconds.
func Timestamp(t time.Time) Key {
	_, offset := t.Zone()
	key := Timestamptz(t.Add(time.Duration(offset) * time.Second))
	key.keyType = 14
	return key
}

// Timestamptz makes a key of timestamptz: the instant t, without nanoseconds.
func Timestamptz(t time.Time) Key {
	return fixed(15, 8, uint64(t.UnixMicro()-epoch*1e6))
}

// Canonical makes a key of any key type from its number and its canonical bytes. Arrays, composites
// and ranges need the rest of the type's description, too. See "Keys" in docs/format.md.
func Canonical(data []byte, keyType uint8, parts ...byte) Key {
	key := Key{kind: kind{keyType: keyType}, data: string(data)}
	if len(parts) > 0 {
		if key.signature = uint32(xxh3(string(append([]byte{keyType}, parts...)), 0)); key.signature == 0 {
			key.signature = 1
		}
	}
	return key
}

// Hash returns cuckoo_hash(key, seed) of SQL.
func (k Key) Hash(seed int64) int64 { return int64(k.hash(uint64(seed))) }

// Shard returns cuckoo_shard(key, shards) of SQL, for 1 to 2^31 - 1 shards: 0 to shards - 1.
func (k Key) Shard(shards int) int {
	return int(k.hash(0x243F6A8885A308D3) >> 32 * uint64(shards) >> 32)
}

func (k *Key) hash(seed uint64) uint64 {
	seed += uint64(k.keyType) * 0x9E3779B97F4A7C15
	if k.size == 0 {
		return xxh3(k.data, seed)
	}
	var data [16]byte
	binary.LittleEndian.PutUint64(data[:8], k.low)
	binary.LittleEndian.PutUint64(data[8:], k.high)
	return xxh3(string(data[:k.size]), seed)
}
