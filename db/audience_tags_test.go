package db

import (
	"errors"
	"fmt"
	"testing"
)

// Too many tags are refused before anything is counted: each costs a comparison with
// each device.
func TestTooManyTagsAreNotCounted(t *testing.T) {
	db := newDB(t)
	a := Audience{}
	for i := range MaxTags + 1 {
		a.Tags = append(a.Tags, fmt.Sprint("n-", i))
	}
	_, count := db.CountAudience(t.Context(), a)
	_, has := db.HasAudience(t.Context(), a)
	_, missing := db.MissingTags(t.Context(), a.Tags)
	_, scopes := db.AudienceScopes(t.Context(), a)
	for name, err := range map[string]error{"count": count, "has": has, "missing": missing, "scopes": scopes} {
		var invalid *InvalidError
		if !errors.As(err, &invalid) || invalid.Fields[0].Message != "may hold at most 20 tags" {
			t.Errorf("%s: %v", name, err)
		}
	}
	a.Tags = a.Tags[:MaxTags]
	if n, err := db.CountAudience(t.Context(), a); err != nil || n != 0 {
		t.Errorf("20 tags: %d, %v", n, err)
	}
}
