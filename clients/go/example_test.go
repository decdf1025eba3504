package pgcuckoo_test

import (
	"errors"
	"fmt"
	"strconv"

	"pgcuckoo"
)

func Example() {
	var b pgcuckoo.Builder
	b.Add(pgcuckoo.Text("user42@example.com"), pgcuckoo.Text("dodo"))
	f, err := b.Build()
	if err != nil {
		panic(err)
	}
	fmt.Println(f.Contains(pgcuckoo.Text("dodo")))
	fmt.Println(f.Contains(pgcuckoo.Text("raphus")))
	_, err = f.Contains(pgcuckoo.Integer(42))
	fmt.Println(errors.Is(err, pgcuckoo.ErrKeyType))
	// Output:
	// true <nil>
	// false <nil>
	// true
}

func ExampleBuilder() {
	b := pgcuckoo.Builder{Capacity: 1000000, FPR: 0.01}
	for i := 1; i <= 1000; i++ {
		b.Add(pgcuckoo.Integer(i))
	}
	f, err := b.Build()
	fmt.Println(f.Info().Items, f.Info().Capacity, err)
	// Output: 1000 1000000 <nil>
}

func ExampleFilter_ContainsEach() {
	var b pgcuckoo.Builder
	b.Add(pgcuckoo.Integer(42))
	f, _ := b.Build()
	fmt.Println(f.ContainsEach(pgcuckoo.Keys([]int64{1, 42, 5000}, pgcuckoo.Integer[int64])...))
	// Output: [false true false] <nil>
}

func ExampleParse() {
	// SELECT cuckoo_agg(42, 1)::bytea
	data := []byte("\x01\x00\x01\x00\x00\x00\x00\x00\xfc\xa9\xf1\xd2\x4d\x62\x50\x3f\x01\x00\x00\x00\x00\x00\x00\x00" +
		"\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x06\x00\x0d\x00" +
		"\x00\x00\x00\x00\x01\x01\x01\x01\x01\x01\x01\x01\x01\x00\x56\xbd\x00\x00\x00\x00\x00\x00\x00\x00")
	f, err := pgcuckoo.Parse(data)
	fmt.Println(f.Info().Items, err)
	fmt.Println(f.Contains(pgcuckoo.Integer(42)))
	_, err = pgcuckoo.Parse(data[1:])
	fmt.Println(errors.Is(err, pgcuckoo.ErrFormat))
	// Output:
	// 1 <nil>
	// true <nil>
	// true
}

func ExampleFilter_UnmarshalText() {
	var f pgcuckoo.Filter
	// As \copy (SELECT cuckoo_agg(42, 1)) TO 'file' writes it
	line := "AQABAAAAAAD8qfHSTWJQPwEAAAAAAAAAAAAAAAAAAAABAAAAAQAAAAEAAAAGAA0AAAAAAAEBAQEBAQEBAQBWvQAAAAAAAAAA\n"
	fmt.Println(f.UnmarshalText([]byte(line)), f.Info().Items)
	// Output: <nil> 1
}

func ExampleCanonical() {
	var b pgcuckoo.Builder
	b.Add(pgcuckoo.Canonical([]byte("sad"), 22)) // an enum, by its label
	f, _ := b.Build()
	fmt.Println(f.Contains(pgcuckoo.Canonical([]byte("sad"), 22)))
	// Output: true <nil>
}

func ExampleKeys() {
	keys := pgcuckoo.Keys([]string{"7", "42"}, func(s string) pgcuckoo.Key {
		i, _ := strconv.Atoi(s)
		return pgcuckoo.Integer(i)
	})
	fmt.Println(keys[1].Shard(10) == pgcuckoo.Integer(42).Shard(10))
	// Output: true
}
