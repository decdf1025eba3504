package pgcuckoo

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func readFile(t testing.TB, name string) string {
	content, err := os.ReadFile("../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// golden returns the lines of a file in test/golden, as fields, without the first.
func golden(t testing.TB, name string) (lines [][]string) {
	for _, line := range strings.Split(strings.TrimSpace(readFile(t, "test/golden/"+name)), "\n")[1:] {
		lines = append(lines, strings.Split(line, "\t"))
	}
	return lines
}

func decode(t testing.TB, text string) []byte {
	data, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func goldenFilter(t testing.TB, name string) *Filter {
	for _, line := range golden(t, "filters.tsv") {
		if line[0] == name {
			f := new(Filter)
			if err := f.UnmarshalText([]byte(line[4])); err != nil {
				t.Fatal(err)
			}
			return f
		}
	}
	t.Fatal("no filter", name)
	return nil
}

// The golden files may be those of a release with more key types; see LastKeyType.
func TestMain(m *testing.M) {
	LastKeyType = 254
	os.Exit(m.Run())
}

// test/clients/go.py computes this digest with xxHash's own code.
const xxh3Digest = "ea4203c4f5d2d210b1b390a75d9d98d99980613e75c89001c3cc4fdb0a56e618"

// Of every way to compute a hash: of each length, of bytes and with a seed that depend on it
func TestXXH3(t *testing.T) {
	digest := sha256.New()
	data := make([]byte, 2048)
	for n := 0; n <= len(data); n++ {
		for i := range data[:n] {
			data[i] = byte((i + n) * (i + 3*n) >> 3)
		}
		hash := xxh3(string(data[:n]), uint64(n)*0x9E3779B97F4A7C15)
		binary.Write(digest, binary.LittleEndian, hash)
	}
	if sum := hex.EncodeToString(digest.Sum(nil)); sum != xxh3Digest {
		t.Error("digest of the hashes:", sum)
	}
}

func TestGoldenHashes(t *testing.T) {
	lookups := 0
	for _, line := range golden(t, "filters.tsv") {
		f := goldenFilter(t, line[0])
		if text, _ := f.MarshalText(); string(text) != line[4] {
			t.Error(line[0], "has another text form")
		}
		if f.Info().Partial {
			continue
		}
		for _, field := range strings.Fields(line[5]) {
			hash, _ := strconv.ParseUint(field[:16], 16, 64)
			copies := 0
			for i := range f.tables {
				copies += f.tables[i].count(f.tables[i].code(hash))
			}
			if want, err := strconv.Atoi(field[17:]); err != nil || copies != want {
				t.Error(line[0], field, copies)
			}
			lookups++
		}
	}
	if lookups < 1000 {
		t.Error("only", lookups, "lookups")
	}
}

// The queries of filters.tsv that the Builder can answer
func TestGoldenBuild(t *testing.T) {
	keysOf := regexp.MustCompile(`^SELECT k FROM generate_series\(1, (\d+)\) AS k$`)
	madeBy := regexp.MustCompile(`^cuckoo_agg\(k(?:, (\d+|NULL)(?:, ([0-9.e-]+))?)?\)$`)
	same, larger := 0, 0
	for _, line := range golden(t, "filters.tsv") {
		keys, made := keysOf.FindStringSubmatch(line[1]), madeBy.FindStringSubmatch(line[2])
		if keys == nil || made == nil {
			continue
		}
		var b Builder
		b.Capacity, _ = strconv.Atoi(made[1])
		b.FPR, _ = strconv.ParseFloat(made[2], 64)
		n, _ := strconv.Atoi(keys[1])
		for i := n; i > 0; i-- {
			b.Add(Integer(i), Integer(i))
		}
		f, err := b.Build()
		if err != nil {
			t.Fatal(line[0], err)
		}
		server := goldenFilter(t, line[0])
		if f.Info() != server.Info() {
			t.Errorf("%s: %+v, not %+v", line[0], f.Info(), server.Info())
		}
		if server.tables[0].dense {
			larger++
		} else if same++; !bytes.Equal(f.Bytes(), server.Bytes()) {
			t.Error(line[0], "has other bytes")
		}
		for i := 1; i <= 3*n; i++ {
			key := Integer(i)
			mine, _ := f.Count(key)
			theirs, _ := server.Count(key)
			if mine != theirs {
				t.Fatal(line[0], i, mine, theirs)
			}
		}
	}
	if same < 20 || larger < 20 {
		t.Error("only", same, "sparse and", larger, "dense filters")
	}
}

func TestMalformed(t *testing.T) {
	for _, line := range golden(t, "malformed.tsv") {
		if f, err := Parse(decode(t, line[1])); !errors.Is(err, ErrFormat) || f != nil {
			t.Error(line[0], "is", err)
		}
	}
}

// The examples of keys in docs/format.md
func TestKeys(t *testing.T) {
	noon := time.Date(2013, 8, 1, 12, 0, 0, 999, time.UTC)
	nepal := time.FixedZone("", 20700)
	keys := map[string]Key{
		"1 integer `42`": Integer(int32(42)), "1 integer -1": Integer(-1), "2 true": Boolean(true), "4 text 'cuckoo'": Text("cuckoo"),
		`5 bytea \x00ff`: Bytea([]byte{0, 255}), "7 double precision 0.1": Double(0.1),
		"10 uuid a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11": UUID([16]byte{0xa0, 0xee, 0xbc, 0x99, 0x9c, 0x0b, 0x4e, 0xf8,
			0xbb, 0x6d, 0x6b, 0xb9, 0xbd, 0x38, 0x0a, 0x11}),
		"11 date 1969-07-20":                    Date(time.Date(1969, 7, 20, 1, 0, 0, 0, nepal)),
		"14 timestamp 2013-08-01 12:00:00":      Timestamp(time.Date(2013, 8, 1, 12, 0, 0, 999, nepal)),
		"15 timestamptz 2013-08-01 12:00:00+00": Timestamptz(noon.In(nepal)),
		"24 integer[] {1,NULL,3}":               Canonical(decode(t, "01010000000300000001000000080000000100000000000000ffffffff080000000300000000000000"), 24, 1),
		"22 enum label sad":                     Canonical([]byte("sad"), 22),
		"26 int4range [1,5)":                    Canonical(decode(t, "0104080000000100000000000000080000000500000000000000"), 26, 1),
		"6 bit 101":                             Canonical(decode(t, "03000000a0"), 6),
		"8 numeric 0":                           Canonical(make([]byte, 4), 8),
		"27 int4multirange {[1,3),[7,)}":        Canonical(decode(t, "0102000000040800000001000000000000000800000003000000000000000c080000000700000000000000"), 27, 1),
		"25 row (1, 'a'::text, NULL::date)":     Canonical(decode(t, "03000000010800000001000000000000000401000000610bffffffff"), 25, 3, 0, 1, 4, 11),
		"13 timetz 13:14:15+02":                 Canonical(decode(t, "c09775180b000000e0e3ffff"), 13),
		"3 'x'::\"char\"":                       Canonical([]byte("x"), 3),
		"21 xid8 18446744073709551615":          Canonical(decode(t, "ffffffffffffffff"), 21),
		"18 macaddr 08:00:2b:01:02:03":          Canonical(decode(t, "08002b010203"), 18),
		"17 inet 192.168.1.5/24":                Canonical(decode(t, "0418c0a80105"), 17),
		"26 numrange (1.0,2.50]":                Canonical(decode(t, "081006000000000000000100080000000000000002008813"), 26, 8),
		"12 time 13:14:15.000016":               Canonical(decode(t, "d09775180b000000"), 12),
		"16 interval 1 mon 2 days 03:04:05":     Canonical(decode(t, "20000000000000004053559202000000"), 16),
		"20 pg_lsn 16/B374D848":                 Canonical(decode(t, "48d874b316000000"), 20),
		"9 money 12.34":                         Canonical(decode(t, "d204000000000000"), 9),
		"19 macaddr8 08:00:2b:01:02:03:04:05":   Canonical(decode(t, "08002b0102030405"), 19),
	}
	page := readFile(t, "docs/format.md")
	found := 0
	for _, line := range regexp.MustCompile("(?m)^    ([0-9a-f]{16})  (\\d+) (.*?)  +([0-9a-f]+)$").FindAllStringSubmatch(page, -1) {
		hash, _ := strconv.ParseUint(line[1], 16, 64)
		number, _ := strconv.Atoi(line[2])
		if got := Canonical(decode(t, line[4]), byte(number)).Hash(0); uint64(got) != hash {
			t.Errorf("%s %s: %x", line[2], line[3], got)
		}
		key, ok := keys[line[2]+" "+line[3]]
		if ok {
			found++
		}
		if ok && uint64(key.Hash(0)) != hash {
			t.Errorf("%s %s: %x", line[2], line[3], key.Hash(0))
		}
	}
	if found != len(keys)-1 { // 42 is in another table
		t.Error("only", found, "of the keys are in the page")
	}
	for name, hash := range map[string]Key{"fc72f81e15616341": keys["1 integer `42`"], "46455a383e79dd43": {}} {
		if !strings.Contains(page, name) {
			t.Error("the page has no hash", name, hash)
		}
	}
	if uint64(Integer(42).Hash(0)) != 0xfc72f81e15616341 || Integer(1).Shard(10) != 2 {
		t.Error("hash of 42 or shard of 1")
	}
	if keys["24 integer[] {1,NULL,3}"].signature != 0xf24e00cf || Canonical(nil, 25, 255, 255).signature != xxh3Signature("\x19\xff\xff") {
		t.Error("signature")
	}
}

func xxh3Signature(description string) uint32 { return uint32(xxh3(description, 0)) }

func TestEqualKeys(t *testing.T) {
	local := time.FixedZone("", -3600)
	for _, same := range [][]Key{
		{Integer(int8(-1)), Integer(int16(-1)), Integer(int64(-1)), Integer(-1)},
		{Integer(uint32(math.MaxUint32)), Integer(int64(math.MaxUint32))},
		{Double(0), Double(math.Copysign(0, -1)), Canonical(make([]byte, 8), 7)},
		{Double(math.NaN()), Double(-math.NaN()), Canonical([]byte{0, 0, 0, 0, 0, 0, 0xf8, 0x7f}, 7)},
		{Double(float64(float32(0.1))), Canonical([]byte{0, 0, 0, 0xa0, 0x99, 0x99, 0xb9, 0x3f}, 7)},
		{Boolean(false), Canonical([]byte{0}, 2)},
		{Date(time.Date(1999, 12, 31, 23, 59, 0, 0, local)), Canonical([]byte{255, 255, 255, 255}, 11)},
		{Timestamptz(time.Date(1999, 12, 31, 23, 0, 0, -1, local)), Canonical(bytes.Repeat([]byte{255}, 8), 15)},
		{Timestamp(time.Date(1999, 12, 31, 23, 59, 59, 999999999, local)), Canonical(bytes.Repeat([]byte{255}, 8), 14)},
		{Timestamp(time.Date(294276, 12, 31, 23, 59, 59, 999999000, time.UTC)), Canonical(binary.LittleEndian.AppendUint64(nil, 9223371331199999999), 14)},
		{Date(time.Date(-4713, 11, 24, 0, 0, 0, 0, time.UTC)), Canonical([]byte{0xa7, 0x97, 0xda, 0xff}, 11)},
		{Text("ä"), Canonical([]byte{0xc3, 0xa4}, 4)},
	} {
		for _, key := range same {
			if key.Hash(-7) != same[0].Hash(-7) || key.kind != same[0].kind {
				t.Errorf("%+v is not %+v", key, same[0])
			}
		}
	}
}

func build(t testing.TB, b Builder, keys ...Key) *Filter {
	b.Add(keys...)
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestLookupErrors(t *testing.T) {
	f := build(t, Builder{}, Integer(1))
	array := build(t, Builder{}, Canonical(decode(t, "0100000000"), 24, 1))
	for _, test := range []struct {
		f    *Filter
		key  Key
		want error
	}{
		{f, Text("1"), ErrKeyType}, {f, Key{}, ErrKeyType}, {f, Canonical(nil, 0), ErrKeyType}, {f, Timestamptz(time.Now()), ErrKeyType},
		{array, Canonical(decode(t, "0400000000"), 24, 4), ErrKeyType}, {build(t, Builder{}), Key{}, ErrKeyType},
		{new(Filter), Integer(1), ErrNoFilter}, {goldenFilter(t, "partial"), Integer(1), ErrNoFilter},
		{f, Integer(2), nil}, {build(t, Builder{}), Text("1"), nil}, {goldenFilter(t, "unset"), Text("1"), nil},
	} {
		contained, err := test.f.Contains(test.key)
		_, countErr := test.f.Count(test.key)
		_, eachErr := test.f.ContainsEach(test.key)
		if contained || !errors.Is(err, test.want) || !errors.Is(countErr, test.want) || !errors.Is(eachErr, test.want) {
			t.Errorf("%+v in %+v: %v, %v, %v, %v", test.key, test.f.Info(), contained, err, countErr, eachErr)
		}
	}
	each, err := f.ContainsEach(Keys([]int{0, 1, 2}, Integer[int])...)
	if err != nil || !reflect.DeepEqual(each, []bool{false, true, false}) {
		t.Error(each, err)
	}
	if each, err := f.ContainsEach(); len(each) != 0 || err != nil {
		t.Error(each, err)
	}
}

func TestBuilder(t *testing.T) {
	for _, test := range []struct {
		builder Builder
		keys    []Key
		want    string
	}{
		{Builder{FPR: 0.11}, nil, "FPR 0.11"}, {Builder{FPR: 1.9e-8}, nil, "FPR 1.9e-08"}, {Builder{FPR: math.NaN()}, nil, "FPR NaN"},
		{Builder{FPR: -0.1}, nil, "FPR -0.1"}, {Builder{Capacity: -1}, nil, "Capacity -1"},
		{Builder{Capacity: 1517813761}, nil, "Capacity 1517813761"}, {Builder{Capacity: 1517813760, FPR: 1e-6}, nil, "too large"},
		{Builder{}, []Key{Integer(1), Text("1")}, "key type"}, {Builder{}, []Key{{}}, "key type"},
		{Builder{}, []Key{Canonical(nil, 24, 1), Canonical(nil, 24, 4)}, "key type"},
	} {
		test.builder.Add(test.keys...)
		test.builder.Add(Integer(1))
		if f, err := test.builder.Build(); f != nil || err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test.builder, err)
		}
	}

	var b Builder
	b.Add(Integer(1))
	first, _ := b.Build()
	b.Add(Integer(2), Integer(1))
	second, err := b.Build()
	if err != nil || first.Info().Items != 1 || second.Info().Items != 2 || first.Info().Capacity != 0 {
		t.Error("a builder that goes on", err)
	}
	want := Info{KeyType: 4, Items: 1025, Capacity: 1025, TargetFPR: 0.001, Seed: -5, Subfilters: 1, Removable: true}
	texts := make([]string, 1025)
	for i := range texts {
		texts[i] = fmt.Sprint(i)
	}
	f := build(t, Builder{Seed: -5}, Keys(texts, Text)...)
	if want.ExpectedFPR = f.Info().ExpectedFPR; f.Info() != want || want.ExpectedFPR < 0.0008 || want.ExpectedFPR > 0.001 {
		t.Errorf("%+v", f.Info())
	}
}

func TestText(t *testing.T) {
	f := build(t, Builder{Capacity: 100}, Text("cuckoo"))
	text, err := f.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	for line, ok := range map[string]bool{
		string(text): true, string(text) + "\n": true, string(text) + "\r\n": true, string(text) + "\n\n": false, "\n" + string(text): false,
		string(text[:8]) + "\n" + string(text[8:]): false, string(text) + " ": false, string(text[:len(text)-1]): false, "": false,
		strings.TrimRight(string(text), "="): false, string(text) + string(text): false,
	} {
		var g Filter
		if err := g.UnmarshalText([]byte(line)); (err == nil) != ok || ok != bytes.Equal(f.Bytes(), g.Bytes()) || !ok && !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %v", line, err)
		}
	}
	var value struct{ F *Filter }
	encoded, err := json.Marshal(map[string]any{"F": f})
	if err == nil {
		err = json.Unmarshal(encoded, &value)
	}
	if err != nil || !bytes.Equal(value.F.Bytes(), f.Bytes()) {
		t.Error("JSON:", err)
	}
	if _, err := new(Filter).MarshalText(); !errors.Is(err, ErrNoFilter) {
		t.Error("NULL:", err)
	}
}

func TestDatabase(t *testing.T) {
	f := build(t, Builder{}, Text("cuckoo"))
	text := base64.StdEncoding.EncodeToString(f.Bytes())
	value, err := f.Value()
	if err != nil || !bytes.Equal(value.([]byte), f.Bytes()) {
		t.Error("Value:", err)
	}
	for _, column := range []any{f.Bytes(), text, []byte(text)} {
		var g Filter
		if err := g.Scan(column); err != nil || !bytes.Equal(g.Bytes(), f.Bytes()) {
			t.Error("Scan:", err)
		}
		if data, ok := column.([]byte); ok {
			saved := append([]byte{}, data...)
			for i := range data { // as a driver that uses its memory again
				data[i] = 0
			}
			if ok, err := g.Contains(Text("cuckoo")); !ok || err != nil {
				t.Error("Scan has kept the driver's memory")
			}
			copy(data, saved)
		}
		if err := g.Scan(nil); err != nil || !reflect.DeepEqual(g, Filter{}) {
			t.Error("NULL:", err)
		}
	}
	for _, column := range []any{1, []byte{}, "", []byte{1}, []byte("no base64"), true} {
		g := *f
		if err := g.Scan(column); !errors.Is(err, ErrFormat) || !bytes.Equal(g.Bytes(), f.Bytes()) {
			t.Errorf("%v: %v", column, err)
		}
	}
	for _, null := range []*Filter{nil, {}} {
		if value, err := null.Value(); value != nil || err != nil {
			t.Error("NULL:", value, err)
		}
	}
}

// A filter whose keys were chosen to be in few groups: the index has counts of 255, and runs are
// long.
func TestCrowded(t *testing.T) {
	s := newTable(1, 32768, 32, 5000, false)
	codes := make([]uint64, 5000)
	for i := range codes {
		codes[i] = 12345<<32 + uint64(i)/8 + 1
	}
	data := make([]byte, s.size+endBytes)
	s.write(data, codes)
	if err := s.open(data); err != nil {
		t.Fatal(err)
	}
	for code, want := range map[uint64]int{12345<<32 + 1: 8, 12345<<32 + 300: 8, 12345<<32 + 625: 8, 12345<<32 + 626: 0, 12344<<32 + 1: 0, 1: 0, 16383<<32 + 9: 0} {
		if copies := s.count(code); copies != want {
			t.Errorf("%x: %d", code, copies)
		}
	}
}

// Numbers of more bits than one load gives, a class of nine hashes, and more than eight copies
func TestExtremes(t *testing.T) {
	for _, codes := range [][]uint64{{1}, {1<<59 + 1<<31 + 5}, {1<<28 + 1, 1<<58 + 7}, {1, 1<<57 + 1, 1<<57 + 1<<40 + 1}} {
		s := newTable(12000, 32768, 32, uint64(len(codes)), false)
		data := make([]byte, s.size+endBytes)
		s.write(data, codes)
		if err := s.open(data); err != nil || s.count(codes[0]) != 1 || s.count(codes[0]+1) != 0 || !reflect.DeepEqual(s.codes(), codes) {
			t.Errorf("%x: %x, %v", codes, s.codes(), err)
		}
	}

	b := Builder{kind: Integer(1).kind}
	for i := uint64(0); i < 9; i++ {
		b.hashes = append(b.hashes, uint64(Integer(42).Hash(0))+i)
	}
	f := build(t, b)
	f.tables = append(f.tables, f.tables[0])
	if copies, err := f.Count(Integer(42)); copies != maxCopies || err != nil || f.Info().Items != maxCopies {
		t.Error(copies, err, f.Info())
	}
}

// The examples of sizes in docs/format.md
func TestSizes(t *testing.T) {
	rows := regexp.MustCompile(`(?m)^([0-9,]+|2\^[0-9]+) \| ([0-9,]+) \| ([0-9,]+) \| [0-9,]+$`).FindAllStringSubmatch(readFile(t, "docs/format.md"), -1)
	number := func(text string) uint64 {
		base, power, isPower := strings.Cut(strings.ReplaceAll(text, ",", ""), "^")
		n, _ := strconv.ParseUint(base, 10, 64)
		exponent, _ := strconv.Atoi(power)
		if isPower {
			n <<= exponent - 1
		}
		return n
	}
	for _, row := range rows {
		if s := tableFor(number(row[1]), 0.001); s.blocks != number(row[2]) || s.buckets != number(row[3]) || s.bits != 13 {
			t.Error(row, s.blocks, s.buckets, s.bits)
		}
	}
	if s := tableFor(9999, 0.001); len(rows) < 5 || s.buckets != 2612 {
		t.Error(len(rows), s.buckets)
	}
}

func TestConcurrency(t *testing.T) {
	f := goldenFilter(t, "grown-3")
	var group sync.WaitGroup
	for i := 0; i < 8; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for k := 1; k <= 1400; k++ {
				if ok, err := f.Contains(Integer(k)); !ok || err != nil {
					t.Error(k, err)
				}
			}
		}()
	}
	group.Wait()
}

// ------------------------------------------------------------------- fuzzing

func addGolden(f *testing.F) {
	for _, line := range golden(f, "filters.tsv") {
		f.Add(goldenFilter(f, line[0]).Bytes())
	}
	for _, line := range golden(f, "malformed.tsv") {
		f.Add(decode(f, line[1]))
	}
}

// Bytes are refused, or a filter that can be used.
func FuzzParse(f *testing.F) {
	addGolden(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		parsed, err := Parse(data)
		if err != nil {
			if parsed != nil || !errors.Is(err, ErrFormat) {
				t.Error(err)
			}
			return
		}
		info := parsed.Info()
		if !(info.ExpectedFPR >= 0 && info.ExpectedFPR <= 1) || info.Items < 0 {
			t.Errorf("%+v", info)
		}
		for i := 0; i < 100 && !info.Partial; i++ {
			key := Key{kind: parsed.kind, data: fmt.Sprint(i)}
			if parsed.kind.keyType == 0 {
				key = Integer(i)
			}
			if copies, err := parsed.Count(key); err != nil || copies < 0 || copies > maxCopies {
				t.Error(copies, err)
			}
		}
		for i := range parsed.tables { // every item is found
			if table := &parsed.tables[i]; !table.dense {
				for _, code := range table.codes() {
					if table.count(code) == 0 {
						t.Errorf("no code %x", code)
					}
				}
			}
		}
		var again Filter
		text, _ := parsed.MarshalText()
		if err := again.UnmarshalText(text); err != nil || !bytes.Equal(again.Bytes(), data) {
			t.Error("text form", err)
		}
	})
}

// codes reads a sparse table without its index.
func (t *table) codes() (codes []uint64) {
	var at uint64
	for group := uint64(0); group < t.groups; group++ {
		lows := t.afterZeros(at, 16)
		high := 16 * group
		for end := lows; at < end; at++ {
			if getBits(t.data, at, 1) == 0 {
				high++
			} else {
				codes = append(codes, high<<t.lowBits+getBits(t.data, lows, t.lowBits))
				lows += t.lowBits
			}
		}
		at = lows
	}
	return codes
}

// A filter contains the keys that it was made of.
func FuzzBuild(f *testing.F) {
	f.Add([]byte("cuckoo"), uint32(0), 0.001, int64(0))
	f.Add([]byte(""), uint32(7), 0.1, int64(-1))
	f.Fuzz(func(t *testing.T, data []byte, capacity uint32, fpr float64, seed int64) {
		b := Builder{Capacity: int(capacity % (1 << 20)), FPR: fpr, Seed: seed}
		var keys []Key
		for i := range data {
			keys = append(keys, Bytea(data[i/2:i]))
		}
		b.Add(keys...)
		built, err := b.Build()
		if err != nil {
			if fpr >= minFPR && fpr <= maxFPR {
				t.Error(err)
			}
			return
		}
		for _, key := range keys {
			if ok, err := built.Contains(key); !ok || err != nil {
				t.Error(key, err)
			}
		}
	})
}

func FuzzText(f *testing.F) {
	for _, line := range golden(f, "filters.tsv") {
		f.Add([]byte(line[4]))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var parsed Filter
		if err := parsed.UnmarshalText(text); err != nil && (!errors.Is(err, ErrFormat) || parsed.data != nil) {
			t.Error(err)
		}
	})
}
