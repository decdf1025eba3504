// Package pgcuckoo makes and reads filters of cuckoo, an extension of PostgreSQL, without a server.
// It cannot add keys to a filter, remove them, or combine filters: do that in SQL. The bytes of
// filters and keys are those of docs/format.md of the extension.
package pgcuckoo

import (
	"bytes"
	"database/sql/driver"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

// Errors of this package wrap these; see errors.Is.
var (
	ErrFormat   = errors.New("pgcuckoo: not a cuckoofilter")
	ErrKeyType  = errors.New("pgcuckoo: key type does not match cuckoofilter") // also of the zero Key
	ErrNoFilter = errors.New("pgcuckoo: NULL or the state of an aggregate is no filter")
)

// LastKeyType is the last key type that filters may have. Raise it to read filters of a release of
// the extension with more; Canonical makes their keys.
var LastKeyType = 27

const (
	headerBytes, directoryBytes, endBytes = 36, 12, 8 // an entry of the directory for each table
	maxBytes                              = 786432000 // 750 MiB
	maxCapacity, minFPR, maxFPR           = 1517813760, 2e-8, 0.1
	maxBlock, maxBuckets                  = 32768, 393216000 // buckets of a block, and of a table
	maxCopies                             = 8                // of a class in a table
	rankBits                              = 12               // of a dense bucket
	epoch                                 = 946684800        // 2000-01-01 00:00 UTC
)

// A Filter is a value of the SQL type cuckoofilter; the zero Filter is NULL. Filters are safe for
// concurrent use: only Scan and UnmarshalText change them.
type Filter struct {
	data   []byte
	kind   kind
	info   Info
	tables []table
}

// Info is what cuckoo_info says of a filter in SQL.
type Info struct {
	KeyType     int   // number in docs/format.md; 0 if there has been no key
	Items       int64 // copies of all keys
	Capacity    int64 // in keys; 0 if not known
	TargetFPR   float64
	ExpectedFPR float64 // rate of false positives with these items
	Subfilters  int
	Seed        int64
	Removable   bool // whether SQL can remove keys
	Partial     bool // the state of an aggregate, in which items are hashes
}

type header struct {
	Version, Content, KeyType, Flags uint8
	Signature                        uint32
	FPR                              float64
	Capacity                         uint64
	Seed                             int64
	Tables                           uint8
	Zeros                            [3]uint8
}

type directory struct { // an entry, for each table
	Blocks, Items uint32
	Buckets       uint16
	Bits, Dense   uint8
}

func formatError(what string) error { return fmt.Errorf("%w: %s", ErrFormat, what) }

type rule struct {
	kept bool
	what string
}

func check(rules ...rule) error {
	for _, rule := range rules {
		if !rule.kept {
			return formatError(rule.what)
		}
	}
	return nil
}

// Parse returns the filter with these bytes, f::bytea in SQL, after validating all of them as
// PostgreSQL does. Do not change them afterwards.
func Parse(data []byte) (*Filter, error) {
	if len(data) == 0 || data[0] != 1 {
		return nil, formatError("unknown version")
	} else if len(data) < headerBytes+endBytes || len(data) > maxBytes {
		return nil, formatError("length out of range")
	}
	var h header
	binary.Read(bytes.NewReader(data), binary.LittleEndian, &h)
	unset := h.Flags&2 != 0
	f := &Filter{data: data, kind: kind{h.KeyType, h.Signature}, info: Info{
		KeyType: int(h.KeyType), Capacity: int64(h.Capacity), TargetFPR: h.FPR, Seed: h.Seed,
		Removable: h.Flags&1 == 0, Partial: h.Content == 1, Subfilters: int(h.Tables)}}
	err := check(
		rule{h.Content <= 1, "unknown content"},
		rule{int(h.KeyType) <= LastKeyType, "unknown key type"},
		rule{h.Flags <= 3 && (h.Flags == 0 || h.Content == 0), "unknown flags"},
		rule{h.Zeros == [3]uint8{}, "unknown fields"},
		rule{!unset || string(data[:headerBytes]) == "\x01\x00\x00\x02"+strings.Repeat("\x00", 32), "parameters of an unset filter"},
		rule{(h.KeyType >= 24) == (h.Signature != 0) || h.KeyType > 27, "signature of another key type"},
		rule{h.FPR >= minFPR && h.FPR <= maxFPR || unset, "target rate out of range"},
		rule{h.Capacity <= maxCapacity, "capacity out of range"},
		rule{(h.Tables == 0) == (h.Content == 1 || unset) && h.Tables <= 16, "number of tables"},
		rule{len(data) >= headerBytes+directoryBytes*int(h.Tables)+endBytes, "length of the directory"})
	if err == nil {
		err = f.readTables()
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (f *Filter) readTables() error {
	entries := make([]directory, f.info.Subfilters)
	binary.Read(bytes.NewReader(f.data[headerBytes:]), binary.LittleEndian, entries)
	at, end := uint64(headerBytes+directoryBytes*len(entries)), uint64(len(f.data)-endBytes)
	size := at
	var logRates, rates float64 // for filters from which keys can and cannot be removed
	for i, d := range entries {
		t := newTable(uint64(d.Blocks), uint64(d.Buckets), uint64(d.Bits), uint64(d.Items), d.Dense == 1)
		if err := check(
			rule{d.Buckets >= 2 && d.Buckets <= maxBlock && d.Buckets%2 == 0, "buckets out of range"},
			rule{d.Blocks >= 1 && t.pairs <= maxBuckets/2, "blocks out of range"},
			rule{d.Bits >= 5 && d.Bits <= 32, "bits out of range"},
			rule{d.Dense == 0 || d.Dense == 1 && t.items <= 8*t.pairs, "items out of range"},
			rule{i == 0 || t.order > f.tables[i-1].order, "order of the tables"},
		); err != nil {
			return err
		}
		f.tables = append(f.tables, t)
		f.info.Items += int64(d.Items)
		size += t.size
		load := float64(d.Items) / float64(t.pairs)
		logRates += load * math.Log1p(-1/float64(t.fingerprints))
		rates += load / float64(t.fingerprints)
	}
	if f.info.ExpectedFPR = 0 - math.Expm1(logRates); !f.info.Removable {
		f.info.ExpectedFPR = math.Min(1, rates)
	}
	if f.info.Partial {
		f.info.Items = int64(end-at) / 8
		size += 8 * uint64(f.info.Items)
	}
	err := check(
		rule{size == end, "length"},
		rule{f.info.Items == 0 || f.info.KeyType != 0, "items without a key type"},
		rule{binary.LittleEndian.Uint64(f.data[end:]) == 0, "end"})
	for i := 0; i < len(f.tables) && err == nil; i++ {
		err = f.tables[i].open(f.data[at:])
		at += f.tables[i].size
	}
	for at += 8; at < end && err == nil; at += 8 {
		if binary.LittleEndian.Uint64(f.data[at-8:]) >= binary.LittleEndian.Uint64(f.data[at:]) {
			err = formatError("order of the hashes")
		}
	}
	return err
}

// Info returns what is known of the filter.
func (f *Filter) Info() Info { return f.info }

// Bytes returns the bytes, for $1::bytea::cuckoofilter. Do not change them.
func (f *Filter) Bytes() []byte { return f.data }

// MarshalText returns the text form, base64, for $1::text::cuckoofilter.
func (f *Filter) MarshalText() ([]byte, error) {
	if f.data == nil {
		return nil, ErrNoFilter
	}
	return []byte(base64.StdEncoding.EncodeToString(f.data)), nil
}

// UnmarshalText replaces the filter by that with this text form. The line break that psql's \copy
// writes may follow.
func (f *Filter) UnmarshalText(text []byte) error {
	text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
	if bytes.ContainsAny(text, "\r\n") { // which the decoder would skip
		return formatError("line breaks in base64")
	}
	data, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		return formatError(err.Error())
	}
	return f.replace(data)
}

func (f *Filter) replace(data []byte) error {
	parsed, err := Parse(data)
	if err == nil {
		*f = *parsed
	}
	return err
}

// Scan replaces the filter by the value of a column f or f::bytea.
func (f *Filter) Scan(column any) error {
	switch value := column.(type) {
	case nil:
		*f = Filter{}
		return nil
	case string:
		return f.UnmarshalText([]byte(value))
	case []byte:
		if len(value) > 0 && value[0] > 15 { // no version, but base64
			return f.UnmarshalText(value)
		}
		return f.replace(append([]byte{}, value...)) // because the driver uses its memory again
	}
	return formatError(fmt.Sprintf("a value of type %T", column))
}

// Value returns the bytes, for $1::bytea::cuckoofilter.
func (f *Filter) Value() (driver.Value, error) {
	if f == nil || f.data == nil {
		return nil, nil
	}
	return f.data, nil
}

// Contains reports whether the filter may contain the key; false is always right. If the filter has
// keys of another key type, the error wraps ErrKeyType.
func (f *Filter) Contains(key Key) (bool, error) {
	copies, err := f.Count(key)
	return copies > 0, err
}

// ContainsEach returns what Contains does of each key.
func (f *Filter) ContainsEach(keys ...Key) (contained []bool, err error) {
	contained = make([]bool, len(keys))
	for i := 0; i < len(keys) && err == nil; i++ {
		contained[i], err = f.Contains(keys[i])
	}
	return contained, err
}

// Count returns the copies of the key in the filter, 0 to 8, or an error as Contains does.
func (f *Filter) Count(key Key) (copies int, err error) {
	if f.data == nil || f.info.Partial {
		return 0, ErrNoFilter
	} else if key.keyType == 0 || key.kind != f.kind && f.kind.keyType != 0 {
		return 0, keyTypeError(key.kind, f.kind)
	}
	hash := key.hash(uint64(f.info.Seed))
	for i := range f.tables {
		t := &f.tables[i]
		copies += t.count(t.code(hash))
	}
	if copies > maxCopies {
		copies = maxCopies
	}
	return copies, nil
}

func keyTypeError(key, filter kind) error {
	return fmt.Errorf("%w: %d (signature %08x), not %d (%08x)", ErrKeyType,
		key.keyType, key.signature, filter.keyType, filter.signature)
}
