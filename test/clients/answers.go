// Answers for the package in Go; see compare.py. Each line of standard input is a question, in fields
// separated by tabs; each line of the answer is JSON.
package main

import (
	"bufio"
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

var kathmandu = time.FixedZone("", 20700)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func unhex(text string) []byte { return must(hex.DecodeString(text)) }

func number(text string) int64 { return must(strconv.ParseInt(text, 10, 64)) }

// The days and times that Go does not have
var infinities = map[string]pgcuckoo.Key{
	"dinfinity": pgcuckoo.Canonical(unhex("ffffff7f"), 11), "d-infinity": pgcuckoo.Canonical(unhex("00000080"), 11),
	"tinfinity": pgcuckoo.Canonical(unhex("ffffffffffffff7f"), 14), "t-infinity": pgcuckoo.Canonical(unhex("0000000000000080"), 14),
	"zinfinity": pgcuckoo.Canonical(unhex("ffffffffffffff7f"), 15), "z-infinity": pgcuckoo.Canonical(unhex("0000000000000080"), 15)}

// key is that of a field: a letter for its type in Go, and its text.
func key(field string) pgcuckoo.Key {
	if key, ok := infinities[field]; ok {
		return key
	}
	text := field[1:]
	switch field[0] {
	case 'l', 'i':
		return pgcuckoo.Integer(number(text))
	case 'b':
		return pgcuckoo.Boolean(text == "true")
	case 's':
		return pgcuckoo.Text(string(unhex(text)))
	case 'x':
		return pgcuckoo.Bytea(unhex(text))
	case 'f':
		return pgcuckoo.Double(must(strconv.ParseFloat(text, 64)))
	case 'u':
		return pgcuckoo.UUID(*(*[16]byte)(unhex(strings.ReplaceAll(text, "-", ""))))
	case 'd':
		return pgcuckoo.Date(time.Date(2000, 1, 1+int(number(text)), 23, 0, 0, 0, kathmandu))
	case 't':
		return pgcuckoo.Timestamp(time.Date(2000, 1, 1, 0, 0, 0, 999, kathmandu).Add(time.Duration(number(text)) * time.Microsecond))
	case 'z', 'n':
		return pgcuckoo.Timestamptz(time.UnixMicro(946684800e6 + number(text)).In(kathmandu))
	}
	description, data, _ := strings.Cut(text, "/")
	parts := unhex(description)
	return pgcuckoo.Canonical(unhex(data), parts[0], parts[1:]...)
}

func answer(fields []string) map[string]any {
	keys := pgcuckoo.Keys(fields[5:], key)
	var f *pgcuckoo.Filter
	switch fields[0] {
	case "hashes":
		hashes := []string{}
		for _, key := range keys {
			hashes = append(hashes, fmt.Sprint(uint64(key.Hash(number(fields[3])))))
		}
		return map[string]any{"hashes": hashes}
	case "filter":
		var err error
		pgcuckoo.LastKeyType = int(number(fields[2]))
		if f, err = pgcuckoo.Parse(unhex(fields[1])); errors.Is(err, pgcuckoo.ErrFormat) {
			return map[string]any{"refused": true}
		} else if err != nil {
			panic(err)
		}
	default:
		b := pgcuckoo.Builder{Capacity: int(number(fields[1])), FPR: must(strconv.ParseFloat(fields[2], 64)), Seed: number(fields[3])}
		b.Add(pgcuckoo.Keys(strings.Fields(fields[4]), key)...)
		f = must(b.Build())
	}
	counts := []int{}
	for _, key := range keys {
		counts = append(counts, must(f.Count(key)))
	}
	info := f.Info()
	return map[string]any{"data": hex.EncodeToString(f.Bytes()), "counts": counts,
		"key_type": info.KeyType, "items": info.Items, "capacity": info.Capacity, "target_fpr": info.TargetFPR,
		"expected_fpr": info.ExpectedFPR, "subfilters": info.Subfilters, "seed": info.Seed, "removable": info.Removable}
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<30)
	for lines.Scan() {
		fmt.Println(string(must(json.Marshal(answer(strings.Split(lines.Text(), "\t"))))))
	}
	must(0, lines.Err())
}
