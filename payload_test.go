package main

import (
	"strings"
	"testing"
)

func TestPayloadIsWeighedForEachVendor(t *testing.T) {
	if got := checkPayload("점검 안내", "short", ""); got != nil {
		t.Errorf("a short text is too large: %+v", got)
	}
	// Each vendor's limit, found by one byte more at a time, lies where its payload ends.
	first := map[string]int{}
	for n := 3700; n < 4100; n++ {
		for _, f := range checkPayload("t", strings.Repeat("a", n), "") {
			if first[f.Kind] > 0 {
				continue
			}
			first[f.Kind] = n
			if f.Field != "body" || !strings.HasSuffix(f.Message, ": 1 too many") {
				t.Errorf("one byte over the limit: %+v", f)
			}
		}
	}
	if first["http"] != 4096 || first["webpush"] >= first["fcm"] || first["webpush"] < 3800 || first["fcm"] >= 4096 {
		t.Errorf("too large from %v on", first)
	}
}
