package pgcuckoo

import (
	"encoding/binary"
	"math/bits"
)

// A table is called a sub-filter in SQL. Letters in comments are those of docs/format.md.
type table struct {
	blocks, buckets, bits uint64 // N, B, f
	items                 uint64
	dense                 bool
	pairs, fingerprints   uint64 // P, 2^f - 1
	order                 uint64 // of shapes
	size                  uint64 // bytes
	data                  []byte // buckets, or the string of bits; and 8 bytes or more that follow

	// Of a sparse table
	lowBits, groups, end uint64 // l, g, bits of the string
	index                []byte // and what follows
	// Of a dense table
	highBits, perLoad uint64 // of an entry without its nibble; 4 or 2 of these high parts are read at once
	ones, tops, rests uint64 // their lowest bits, their highest, and all but these
}

// newTable returns a table without data. All numbers will do: readTables checks them afterwards.
func newTable(blocks, buckets, bits, items uint64, dense bool) table {
	t := table{blocks: blocks, buckets: buckets, bits: bits, items: items, dense: dense,
		pairs: blocks * buckets / 2, fingerprints: 1<<bits - 1, order: blocks*buckets/2<<34 | bits<<28 | blocks}
	if dense {
		t.size = t.pairs * (t.bits - 1)
		t.highBits, t.perLoad = t.bits-4, 4
		if 4*t.highBits > 57 {
			t.perLoad = 2
		}
		for i := uint64(0); i < t.perLoad; i++ {
			t.ones |= 1 << (i * t.highBits)
		}
		t.tops = t.ones << (t.highBits - 1)
		t.rests = t.tops - t.ones
		return t
	}
	last := t.pairs<<t.bits - 1
	for 7*(last>>t.lowBits+1) > 8*items && (items > 0 || last>>t.lowBits > 0) {
		t.lowBits++
	}
	t.groups = ceilDiv(last>>t.lowBits+1, 16)
	t.end = 16*t.groups + t.items*(1+t.lowBits)
	t.size = 12*ceilDiv(t.groups, 8) + ceilDiv(t.end, 8)
	return t
}

// open takes the table's bytes and what follows, and validates them.
func (t *table) open(data []byte) error {
	if t.data = data; t.dense {
		return t.validateDense()
	}
	t.index, t.data = data, data[12*ceilDiv(t.groups, 8):]
	return t.validateSparse()
}

// code returns the class of a hash.
func (t *table) code(hash uint64) uint64 {
	q, low := bits.Mul64(hash, t.pairs)
	return q<<t.bits + 1 + (low>>32*t.fingerprints)>>32
}

func ceilDiv(a, b uint64) uint64 { return (a + b - 1) / b }

// load returns 57 bits or more from a bit on.
func load(data []byte, at uint64) uint64 {
	return binary.LittleEndian.Uint64(data[at>>3:]) >> (at & 7)
}

// getBits returns up to 64 bits from a bit on.
func getBits(data []byte, at, count uint64) uint64 {
	value := load(data, at)
	if at&7+count > 64 {
		value |= uint64(data[at>>3+8]) << (64 - at&7)
	}
	return value & (1<<count - 1)
}

// putBits sets bits, which are 0, to a value.
func putBits(data []byte, at, count, value uint64) {
	word := data[at>>3:]
	binary.LittleEndian.PutUint64(word, binary.LittleEndian.Uint64(word)|value<<(at&7))
	if at&7+count > 64 {
		word[8] |= byte(value >> (64 - at&7))
	}
}

// indexByte returns what the index has for a number of codes.
func indexByte(codes uint64) byte {
	if codes > 255 {
		return 255
	}
	return byte(codes)
}

// afterZeros returns the bit after the n-th zero from a bit on, or one behind the end if there is
// no such zero.
func (t *table) afterZeros(at, n uint64) uint64 {
	for n > 0 && at <= t.end {
		zeros := ^load(t.data, at) & (1<<57 - 1)
		found := uint64(bits.OnesCount64(zeros))
		if found >= n {
			for ; n > 1; n-- {
				zeros &= zeros - 1
			}
			return at + uint64(bits.TrailingZeros64(zeros)) + 1
		}
		n -= found
		at += 57
	}
	return at
}

// group returns the bits at which a group and its low parts begin.
func (t *table) group(group uint64) (first, lows uint64) {
	section, number := t.index[12*(group/8):][:12], group%8
	start, count, before := uint64(binary.LittleEndian.Uint32(section)), uint64(section[4+number]), uint64(0)
	if number > 0 {
		before = uint64(section[3+number])
	}
	if count < 255 {
		first = 16*group + (start+before)*(1+t.lowBits)
		return first, first + 16 + count - before
	}
	first = 16*(group-number) + start*(1+t.lowBits)
	for lows = t.afterZeros(first, 16); number > 0; number-- {
		first = lows + (lows-first-16)*t.lowBits
		lows = t.afterZeros(first, 16)
	}
	return first, lows
}

// count returns the copies of a class.
func (t *table) count(code uint64) (copies int) {
	if t.dense {
		q, fingerprint := code>>t.bits, code&t.fingerprints
		first := uint64(uint32(q)/uint32(t.buckets/2)) * t.buckets
		even := 2*q - first
		h := uint32(fingerprint)
		h = (h ^ h>>16) * 0x85EBCA6B
		h = (h ^ h>>13) * 0xC2B2AE35
		h ^= h >> 16
		sum := uint64(h)*t.buckets>>32 | 1 // c()
		if sum < even {
			sum += t.buckets
		}
		return t.countIn(first+even, fingerprint) + t.countIn(first+sum-even, fingerprint)
	}
	high, low := code>>t.lowBits, code&(1<<t.lowBits-1)
	first, lows := t.group(high / 16)
	run := t.afterZeros(first, high%16)
	length := t.afterZeros(run, 1) - 1 - run
	lows += (run - first - high%16) * t.lowBits

	// A run has about one code, but perhaps millions in a filter that was made so on purpose.
	i := uint64(0)
	for end := length; i < end; {
		if middle := (i + end) / 2; getBits(t.data, lows+middle*t.lowBits, t.lowBits) < low {
			i = middle + 1
		} else {
			end = middle
		}
	}
	for ; i < length && getBits(t.data, lows+i*t.lowBits, t.lowBits) == low; i++ {
		copies++
	}
	return copies
}

func (t *table) validateSparse() error {
	var at, items, start, copies, last uint64
	ok := true
	for group := uint64(0); group < 8*ceilDiv(t.groups, 8); group++ {
		section, number := t.index[12*(group/8):][:12], group%8
		if number == 0 {
			start = items
		}
		if group < t.groups {
			lows := t.afterZeros(at, 16)
			if items += lows - at - 16; items > t.items { // if not, the group ends in the string
				return formatError("more codes than items")
			}
			high := 16 * group
			for end := lows; at < end; at++ {
				if getBits(t.data, at, 1) == 0 {
					high++
					continue
				}
				code := high<<t.lowBits + getBits(t.data, lows, t.lowBits)
				lows += t.lowBits
				if copies++; code != last {
					copies = 1
				}
				ok = ok && code >= last && copies <= maxCopies && code>>t.bits < t.pairs && code&t.fingerprints != 0
				last = code
			}
			at = lows
		}
		ok = ok && uint64(binary.LittleEndian.Uint32(section)) == start && section[4+number] == indexByte(items-start)
	}
	return check(
		rule{ok, "codes or index of a sparse table"},
		rule{items == t.items, "fewer codes than items"},
		rule{getBits(t.data, t.end, -t.end%8) == 0, "bits behind the last group"})
}

// write writes codes, which ascend, into bytes that are 0.
func (t *table) write(data []byte, codes []uint64) {
	var at, start, items uint64
	t.index, t.data = data, data[12*ceilDiv(t.groups, 8):]
	for group := uint64(0); group < 8*ceilDiv(t.groups, 8); group++ {
		section, number := t.index[12*(group/8):][:12], group%8
		if number == 0 {
			start = items
			binary.LittleEndian.PutUint32(section, uint32(start))
		}
		first := items
		for ; items < t.items && codes[items]>>t.lowBits < 16*(group+1); items++ {
			putBits(t.data, at+codes[items]>>t.lowBits-16*group+items-first, 1, 1)
		}
		if group < t.groups {
			at += 16 + items - first
		}
		for _, code := range codes[first:items] {
			putBits(t.data, at, t.lowBits, code&(1<<t.lowBits-1))
			at += t.lowBits
		}
		section[4+number] = indexByte(items - start)
	}
}

// multisets has the four nibbles of each rank, ascending from the lowest four bits on.
var multisets = func() (multisets []uint16) {
	for d := 0; d < 16; d++ {
		for c := 0; c <= d; c++ {
			for b := 0; b <= c; b++ {
				for a := 0; a <= b; a++ {
					multisets = append(multisets, uint16(a|b<<4|c<<8|d<<12))
				}
			}
		}
	}
	return multisets
}()

// countIn returns how many entries of a bucket have this fingerprint. Several high parts are compared
// at once: below the top bit of each, x&rests + rests carries into it unless x is 0 there.
func (t *table) countIn(bucket, fingerprint uint64) (copies int) {
	at := 4 * (t.bits - 1) * bucket
	for slot := uint64(0); slot < 4; slot += t.perLoad {
		x := load(t.data, at+rankBits+slot*t.highBits) ^ fingerprint>>4*t.ones
		for equal := ^(x&t.rests + t.rests | x) & t.tops; equal != 0; equal &= equal - 1 {
			i := slot + uint64(uint8(bits.TrailingZeros64(equal))/uint8(t.highBits))
			nibble := multisets[load(t.data, at)&(1<<rankBits-1)] >> (4 * i)
			if (uint64(nibble)^fingerprint)&15 == 0 {
				copies++
			}
		}
	}
	return copies
}

func (t *table) validateDense() error {
	var items uint64
	ok := true
	for bucket := uint64(0); bucket < 2*t.pairs && ok; bucket++ {
		at := 4 * (t.bits - 1) * bucket
		rank := getBits(t.data, at, rankBits)
		ok = rank < uint64(len(multisets))
		for i, before := uint64(0), uint64(0); i < 4 && ok; i++ {
			high := getBits(t.data, at+rankBits+i*t.highBits, t.highBits)
			entry := uint64(multisets[rank]>>(4*i)&15)<<t.highBits | high // in the order of entries
			if entry != 0 {
				items++
			}
			ok, before = entry >= before, entry
		}
	}
	return check(
		rule{ok, "ranks or entries of a dense table"},
		rule{items == t.items, "number of items"})
}
