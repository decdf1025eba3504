// Answers for the package in Go; see go.py. Each line of standard input is a question in JSON, and so
// is each line of the answer.
package main

import (
	"bufio"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"pgcuckoo"
)

// A key is the description of its type and its canonical bytes, in hexadecimal.
type key [2]string

func (k key) Key() pgcuckoo.Key {
	description := unhex(k[0])
	return pgcuckoo.Canonical(unhex(k[1]), description[0], description[1:]...)
}

type question struct {
	Filter *string // in hexadecimal
	Keys   []key
	Seed   int64 // of hashes of the keys
	Made   *struct {
		Keys     []key
		Capacity int
		FPR      float64
		Seed     int64
	}
	Kind     string // of the bulk
	Count    int    // of its keys that the filter has, of which twice as many are looked up
	Capacity int
}

// The keys of a kind that go.py makes in SQL
var bulk = map[string]func(i int) pgcuckoo.Key{
	"integer": func(i int) pgcuckoo.Key { return pgcuckoo.Integer(int64(i) * 1000003) },
	"boolean": func(i int) pgcuckoo.Key { return pgcuckoo.Boolean(i%2 == 1) },
	"text":    func(i int) pgcuckoo.Key { return pgcuckoo.Text(strings.Repeat("aä漢", i%200) + fmt.Sprint(i)) },
	"bytea": func(i int) pgcuckoo.Key {
		sum := md5.Sum([]byte(fmt.Sprint(i)))
		return pgcuckoo.Bytea(sum[:i%17])
	},
	"uuid":   func(i int) pgcuckoo.Key { return pgcuckoo.UUID(md5.Sum([]byte(fmt.Sprint(i)))) },
	"double": func(i int) pgcuckoo.Key { return pgcuckoo.Double(float64(i) / 7) },
	"real":   func(i int) pgcuckoo.Key { return pgcuckoo.Double(float64(float32(i) / 7)) },
	"date":   func(i int) pgcuckoo.Key { return pgcuckoo.Date(time.Date(2000, 1, 1+i-50000, 23, 0, 0, 0, kathmandu)) },
	"timestamp": func(i int) pgcuckoo.Key {
		return pgcuckoo.Timestamp(time.Date(2000, 1, 1, i-50000, 0, 1, 1000*i, kathmandu))
	},
	"timestamptz": func(i int) pgcuckoo.Key {
		return pgcuckoo.Timestamptz(time.Date(2000, 1, 1, i-50000, 0, 1, 1000*i+999, time.UTC).In(kathmandu))
	},
	"inet": func(i int) pgcuckoo.Key {
		return pgcuckoo.Canonical([]byte{4, 8, 10, byte(i >> 16), byte(i >> 8), byte(i)}, 17)
	},
	"array": func(i int) pgcuckoo.Key {
		array := []byte("\x01\x01\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00")
		for _, element := range []int{i, -i} {
			array = binary.LittleEndian.AppendUint64(append(array, 8, 0, 0, 0), uint64(element))
		}
		return pgcuckoo.Canonical(array, 24, 1)
	},
}

var kathmandu = time.FixedZone("", 20700)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func unhex(text string) []byte { return must(hex.DecodeString(text)) }

func answer(q question) map[string]any {
	keys := pgcuckoo.Keys(q.Keys, key.Key)
	made := new(pgcuckoo.Filter)
	switch {
	case q.Kind != "":
		b := pgcuckoo.Builder{Capacity: q.Capacity}
		for i := 1; i <= 2*q.Count; i++ {
			keys = append(keys, bulk[q.Kind](i))
		}
		b.Add(keys[:q.Count]...)
		made = must(b.Build())
	case q.Made != nil:
		b := pgcuckoo.Builder{Capacity: q.Made.Capacity, FPR: q.Made.FPR, Seed: q.Made.Seed}
		b.Add(pgcuckoo.Keys(q.Made.Keys, key.Key)...)
		made = must(b.Build())
	case q.Filter == nil:
		hashes := []string{}
		for _, key := range keys {
			hashes = append(hashes, fmt.Sprint(uint64(key.Hash(q.Seed))))
		}
		return map[string]any{"hashes": hashes}
	}
	f := made
	if q.Filter != nil {
		var err error
		if f, err = pgcuckoo.Parse(unhex(*q.Filter)); errors.Is(err, pgcuckoo.ErrFormat) {
			return map[string]any{"refused": true}
		} else if err != nil {
			panic(err)
		}
	}
	counts := []int{}
	for _, key := range keys {
		counts = append(counts, must(f.Count(key)))
	}
	info := f.Info()
	return map[string]any{"data": hex.EncodeToString(f.Bytes()), "counts": counts, "made": hex.EncodeToString(made.Bytes()),
		"key_type": info.KeyType, "items": info.Items, "capacity": info.Capacity, "target_fpr": info.TargetFPR,
		"expected_fpr": info.ExpectedFPR, "subfilters": info.Subfilters, "seed": info.Seed, "removable": info.Removable}
}

// The argument is the last key type, which the package may not know yet.
func main() {
	pgcuckoo.LastKeyType = must(strconv.Atoi(os.Args[1]))
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<30)
	for lines.Scan() {
		var q question
		must(0, json.Unmarshal(lines.Bytes(), &q))
		fmt.Println(string(must(json.Marshal(answer(q)))))
	}
	must(0, lines.Err())
}
