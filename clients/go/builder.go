package pgcuckoo

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sort"
)

// A Builder makes a filter of keys, as cuckoo_from_array does in SQL. Set its fields before the
// first key is added.
type Builder struct {
	Capacity int     // keys that there will be, if SQL will add some or combine filters; 0: those added
	FPR      float64 // rate of false positives, 2e-8 to 0.1; 0: 0.001
	Seed     int64   // of the hashes

	hashes []uint64
	kind   kind
	err    error
}

// Add adds keys of one key type. A Builder keeps 8 bytes of each.
func (b *Builder) Add(keys ...Key) {
	for i := range keys {
		if b.kind.keyType == 0 {
			b.kind = keys[i].kind
		}
		if keys[i].keyType == 0 || keys[i].kind != b.kind {
			b.err = keyTypeError(keys[i].kind, b.kind)
			return
		}
		b.hashes = append(b.hashes, keys[i].hash(uint64(b.Seed)))
	}
}

// Build returns the filter of the distinct keys. It is sparse: if PostgreSQL would store it sparse,
// too, it has the same bytes, and otherwise it is about 3 % larger. The error is that of Add, or
// says that a field is out of range or the filter would be too large.
func (b *Builder) Build() (*Filter, error) {
	sort.Slice(b.hashes, func(i, j int) bool { return b.hashes[i] < b.hashes[j] })
	distinct := b.hashes[:0]
	for i, hash := range b.hashes {
		if i == 0 || hash != distinct[len(distinct)-1] {
			distinct = append(distinct, hash)
		}
	}
	b.hashes = distinct
	fpr, capacity := b.FPR, b.Capacity
	if fpr == 0 {
		fpr = 0.001
	}
	if n := len(distinct); n > capacity && (capacity > 0 || n > 1024) {
		capacity = n
	}
	if b.err != nil {
		return nil, b.err
	} else if !(fpr >= minFPR && fpr <= maxFPR) || capacity < 0 || capacity > maxCapacity {
		return nil, fmt.Errorf("pgcuckoo: FPR %g or Capacity %d is out of range", fpr, capacity)
	}
	t := tableFor(uint64(capacity), fpr)
	codes := make([]uint64, 0, len(distinct))
	for _, hash := range distinct { // A larger hash never has a smaller code.
		if n, code := len(codes), t.code(hash); n < maxCopies || codes[n-maxCopies] != code {
			codes = append(codes, code)
		}
	}
	denseSize := t.pairs * (t.bits - 1) // which PostgreSQL refuses, if it is too large
	t = newTable(t.blocks, t.buckets, t.bits, uint64(len(codes)), false)
	if most := uint64(maxBytes - headerBytes - directoryBytes - endBytes); denseSize > most || t.size > most {
		return nil, fmt.Errorf("pgcuckoo: a filter of capacity %d would be too large", capacity)
	}
	var head bytes.Buffer
	binary.Write(&head, binary.LittleEndian, header{Version: 1, KeyType: b.kind.keyType, Signature: b.kind.signature,
		FPR: fpr, Capacity: uint64(capacity), Seed: b.Seed, Tables: 1})
	binary.Write(&head, binary.LittleEndian, directory{uint32(t.blocks), uint32(t.items), uint16(t.buckets), uint8(t.bits), 0})
	data := append(head.Bytes(), make([]byte, t.size+endBytes)...)
	t.write(data[head.Len():], codes)
	return Parse(data)
}

// tableFor returns an empty table of the shape that PostgreSQL chooses for so many keys, or for 0,
// if it does not know how many.
func tableFor(keys uint64, fpr float64) table {
	bits := uint64(7)
	for fpr*float64(uint64(1)<<bits-1) < 7.72 {
		bits++
	}
	if keys == 0 {
		keys = 1 << 20
		bits++
	}
	buckets := 100*keys/383 + 5
	if keys >= 10000 {
		buckets = ceilDiv(50*keys, 193)
	} else if keys >= 5000 {
		buckets = 100*keys/383 + 1
	}
	blocks := ceilDiv(buckets, maxBlock)
	buckets = ceilDiv(buckets, blocks)
	return newTable(blocks, buckets+buckets%2, bits, 0, false)
}
