package db

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestMissingTagsAreThoseOfNobodyWhoCouldBeTold(t *testing.T) {
	db := newDB(t)
	ctx := t.Context()
	exec(t, db, `INSERT INTO device (token, token_hash, platform, tags, consent, disabled_at, disabled_reason) VALUES
		('a', 'a', 'ios', '{seoul,vip}', true, NULL, NULL), ('b', 'b', 'web', '{busan}', true, NULL, NULL),
		('c', 'c', 'ios', '{gone}', true, now(), 'admin'), ('d', 'd', 'ios', '{no}', false, NULL, NULL)`)
	for _, c := range []struct{ tags, missing string }{
		{"", ""},
		{"seoul", ""},
		{"seoul busan vip", ""},
		{"seol", "seol"},
		{"seol busan gone no vip Seoul", "Seoul gone no seol"},
	} {
		got, err := db.MissingTags(ctx, strings.Fields(c.tags))
		if err != nil || !slices.Equal(got, strings.Fields(c.missing)) {
			t.Errorf("%q: %q, %v; want %q", c.tags, got, err, c.missing)
		}
	}
	if _, err := db.MissingTags(ctx, []string{"\x00"}); fieldsOf(err) != "audience" {
		t.Errorf("a control character: %v", err)
	}
	if got, err := db.TagsInUse(ctx); err != nil || strings.Join(got, " ") != "busan seoul vip" {
		t.Errorf("in use are %q, %v", got, err)
	}
}

func TestHasAudience(t *testing.T) {
	db := newDB(t)
	ctx := t.Context()
	has := func(platforms, tags string) bool {
		t.Helper()
		return must(db.HasAudience(ctx, Audience{strings.Fields(platforms), strings.Fields(tags)}))(t)
	}
	if has("", "") {
		t.Error("there is somebody where no device is")
	}
	exec(t, db, `INSERT INTO device (token, token_hash, platform, tags, consent) VALUES ('a', 'a', 'ios', '{seoul}', true), ('b', 'b', 'web', '{busan}', false)`)
	for _, c := range []struct {
		platforms, tags string
		want            bool
	}{{"", "", true}, {"ios", "", true}, {"android", "", false}, {"", "seoul busan", true}, {"", "busan", false}, {"web", "seoul", false}} {
		if got := has(c.platforms, c.tags); got != c.want {
			t.Errorf("%q %q: %v", c.platforms, c.tags, got)
		}
	}
	if _, err := db.HasAudience(ctx, Audience{Platforms: []string{"\x00"}}); fieldsOf(err) != "audience" {
		t.Errorf("a control character: %v", err)
	}
}

// A look for tags that are there ends early, and one for a tag that is not goes from
// device to device by an index, once.
func TestMissingTagsGoByTheIndex(t *testing.T) {
	db := newDB(t)
	const devices = 20000
	ok(t, db.SeedDevices(t.Context(), devices, func(i int) DeviceInput {
		tags := []string{fmt.Sprintf("tag-%d", i%10)}
		return DeviceInput{Token: fmt.Sprintf("t%d", i), Platform: "ios", Tags: &tags}
	}))
	exec(t, db, "VACUUM ANALYZE device")
	for name, tags := range map[string][]string{"all there": {"tag-1", "tag-9"}, "one is not": {"tag-1", "tag-x", "tag-9", "tag-y"}} {
		var plan string
		rows := must(db.pool.Query(t.Context(), "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) "+missingTags, tags))(t)
		for rows.Next() {
			var line string
			ok(t, rows.Scan(&line))
			plan += line + "\n"
		}
		ok(t, rows.Err())
		if strings.Contains(plan, "Seq Scan") || strings.Contains(plan, "Sort Key: device.id") || !strings.Contains(plan, "Index Cond: (id > w.id)") {
			t.Errorf("%s: %s", name, plan)
		}
	}
	if got := must(db.MissingTags(t.Context(), []string{"tag-1", "tag-x", "tag-9", "tag-y"}))(t); strings.Join(got, " ") != "tag-x tag-y" {
		t.Errorf("missing are %q", got)
	}
}

func TestWhetherANoticeIsStored(t *testing.T) {
	db := newDB(t)
	ctx := t.Context()
	d := Draft{Title: "Hello", Body: "Text", Category: "info"}
	if must(db.IsStored(ctx, d.Key()))(t) {
		t.Error("it is there before it came")
	}
	accept(t, db, d)
	if !must(db.IsStored(ctx, d.Key()))(t) || must(db.IsStored(ctx, Draft{Title: "Other", Body: "Text"}.Key()))(t) {
		t.Error("the content does not decide")
	}
}
