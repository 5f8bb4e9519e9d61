package db

import (
	"fmt"
	"strings"
	"testing"
)

func TestDeviceInput(t *testing.T) {
	tags := func(list ...string) *[]string { return &list }
	many := make([]string, MaxDeviceTags+1)
	for i := range many {
		many[i] = fmt.Sprint("t", i)
	}
	ok := DeviceInput{Token: "token", Platform: "ios"}
	for name, c := range map[string]struct {
		change func(*DeviceInput)
		fields string
	}{
		"least":                 {func(*DeviceInput) {}, ""},
		"no token":              {func(d *DeviceInput) { d.Token = "" }, "token"},
		"longest token":         {func(d *DeviceInput) { d.Token = strings.Repeat("x", 4096) }, ""},
		"token too long":        {func(d *DeviceInput) { d.Token = strings.Repeat("x", 4097) }, "token"},
		"space in token":        {func(d *DeviceInput) { d.Token = "a b" }, "token"},
		"wide space in token":   {func(d *DeviceInput) { d.Token = "a\u3000b" }, "token"},
		"NUL in token":          {func(d *DeviceInput) { d.Token = "a\x00b" }, "token"},
		"token not UTF-8":       {func(d *DeviceInput) { d.Token = "a\xff" }, "token"},
		"no platform":           {func(d *DeviceInput) { d.Platform = "" }, "platform"},
		"unknown platform":      {func(d *DeviceInput) { d.Platform = "tv" }, "platform"},
		"longest user":          {func(d *DeviceInput) { d.User = new(strings.Repeat("가", 255)) }, ""},
		"user too long":         {func(d *DeviceInput) { d.User = new(strings.Repeat("가", 256)) }, "user"},
		"NUL in user":           {func(d *DeviceInput) { d.User = new("a\x00") }, "user"},
		"empty user":            {func(d *DeviceInput) { d.User = new("") }, ""},
		"empty installation":    {func(d *DeviceInput) { d.Installation = new("") }, "installation"},
		"installation too long": {func(d *DeviceInput) { d.Installation = new(strings.Repeat("i", 256)) }, "installation"},
		"tags of any script":    {func(d *DeviceInput) { d.Tags = tags("서울", "हिन्दी", "Größe", "a.b_c-d:e", "7") }, ""},
		"empty tag":             {func(d *DeviceInput) { d.Tags = tags("a", "") }, "tags"},
		"bar in tag":            {func(d *DeviceInput) { d.Tags = tags("a|b") }, "tags"},
		"space in tag":          {func(d *DeviceInput) { d.Tags = tags("a b") }, "tags"},
		"longest tag":           {func(d *DeviceInput) { d.Tags = tags(strings.Repeat("가", 64)) }, ""},
		"tag too long":          {func(d *DeviceInput) { d.Tags = tags(strings.Repeat("가", 65)) }, "tags"},
		"most tags":             {func(d *DeviceInput) { d.Tags = tags(many[1:]...) }, ""},
		"too many tags":         {func(d *DeviceInput) { d.Tags = tags(many...) }, "tags"},
		"the same tag 51 times": {func(d *DeviceInput) { d.Tags = tags(strings.Fields(strings.Repeat("a ", 51))...) }, ""},
	} {
		d := ok
		c.change(&d)
		want := c.fields
		if want != "" {
			want = "devices[1]." + want
		}
		if _, err := checkDevices([]DeviceInput{ok, d}); fieldsOf(err) != want {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

func TestDeviceInputNormalForm(t *testing.T) {
	nfd, nfc := "\u1100\u1175\u11b7", "\uae40"
	out, err := checkDevices([]DeviceInput{{Token: "t", Platform: "ios", User: &nfd, Tags: &[]string{"b", nfd, "a", nfc, "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	if *out[0].User != nfc || fmt.Sprint(*out[0].Tags) != fmt.Sprint([]string{"a", "b", nfc}) {
		t.Errorf("user %q, tags %q", *out[0].User, *out[0].Tags)
	}
	if nfd == nfc {
		t.Fatal("the test's two spellings are one")
	}
}

func TestDeviceInputsTooMany(t *testing.T) {
	if _, err := checkDevices(make([]DeviceInput, MaxDevices+1)); fieldsOf(err) != "devices" {
		t.Errorf("%v", err)
	}
}
