package main

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestLadderHoldsUnderThePresets(t *testing.T) {
	c, err := loadConfig(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := limitsOf(c).check(); err != nil {
		t.Error(err)
	}
}

func TestLadderNamesThePairTheValuesAndTheVariables(t *testing.T) {
	c, err := loadConfig([]string{"BONGSU_VENDOR_TIMEOUT=5s"}) // 5 s + 5 s is not under a lease of 10 s
	if err != nil {
		t.Fatal(err)
	}
	err = limitsOf(c).check()
	if err == nil {
		t.Fatal("a lease as long as its inner limits together was taken")
	}
	want := "time limits: lease (10s) must be longer than vendor call + recording (10s): raise BONGSU_LEASE or lower BONGSU_VENDOR_TIMEOUT"
	if err.Error() != want {
		t.Errorf("the error is\n%s\nwant\n%s", err, want)
	}
	c.Lease = 130 * time.Second // longer than a range task, which nobody can set
	if err := limitsOf(c).check(); err == nil || !strings.Contains(err.Error(), "range task (2m0s) must be longer than lease (2m10s): lower BONGSU_LEASE") {
		t.Errorf("the error is %v", err)
	}
}

// Each limit stands in some rung: one that stands in none could have any value.
func TestEveryLimitIsOnTheLadder(t *testing.T) {
	whole := Limits{}
	v := reflect.ValueOf(&whole).Elem()
	for i := range v.NumField() {
		v.Field(i).SetInt(int64(i + 1))
	}
	seen := map[time.Duration]bool{}
	for _, r := range whole.ladder() {
		seen[r.outer.value] = true
		for _, l := range r.inner {
			seen[l.value] = true
		}
	}
	for i := range v.NumField() {
		if !seen[time.Duration(i+1)] {
			t.Errorf("%s is on no rung", v.Type().Field(i).Name)
		}
	}
}

// Each rung is really checked: with its outer limit at the sum of the inner
// ones, and all others as they are, the check fails and names it.
func TestEachRungIsChecked(t *testing.T) {
	c, err := loadConfig(nil)
	if err != nil {
		t.Fatal(err)
	}
	good := limitsOf(c)
	for _, r := range good.ladder() {
		broken := good
		v := reflect.ValueOf(&broken).Elem()
		for i := range v.NumField() {
			if v.Type().Field(i).Name == fieldOf[r.outer.name] {
				v.Field(i).SetInt(int64(r.innerSum()))
			}
		}
		if err := broken.check(); err == nil || !strings.Contains(err.Error(), r.outer.name+" ("+r.innerSum().String()+")") {
			t.Errorf("with %s at %s the check says %v", r.outer.name, r.innerSum(), err)
		}
	}
}

var fieldOf = map[string]string{
	"browser": "Browser", "proxy": "Proxy", "server handler": "Handler", "transaction": "Transaction",
	"stop from outside": "Outside", "shutdown grace": "Grace", "range task": "RangeTask", "lease": "Lease",
}
