package pgcuckoo

import (
	"errors"
	"syscall"
	"testing"
)

// In memory that the system has only promised
func TestTooLong(t *testing.T) {
	data, err := syscall.Mmap(-1, 0, maxBytes+1, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(data)
	copy(data, goldenFilter(t, "empty").Bytes())
	for size, want := range map[int]string{maxBytes: "length", maxBytes + 1: "length out of range"} {
		if _, err := Parse(data[:size]); !errors.Is(err, ErrFormat) || err.Error() != ErrFormat.Error()+": "+want {
			t.Error(size, err)
		}
	}
}
