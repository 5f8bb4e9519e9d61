package main

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"bongsu/jobs/push"
)

// durationIn makes a setter of the field for durations from low to high.
func durationIn(low, high time.Duration, field func(*Config) *time.Duration) func(*Config, string) error {
	return func(c *Config, v string) (err error) {
		*field(c), err = parseDuration(v, low, high)
		return err
	}
}

func parseDuration(v string, low, high time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil {
		return 0, fmt.Errorf("is %q, not a duration such as 500ms, 3s or 2m", v)
	}
	if d < low || d > high {
		return 0, fmt.Errorf("is %s, not between %s and %s", d, low, high)
	}
	return d, nil
}

// intIn makes a setter of the field for whole numbers from low to high.
func intIn(low, high int, field func(*Config) *int) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil {
			return fmt.Errorf("is %q, not a whole number", v)
		}
		if n < low || n > high {
			return fmt.Errorf("is %d, not between %d and %d", n, low, high)
		}
		*field(c) = n
		return nil
	}
}

func parseShare(v string) (float64, error) {
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || !(f >= 0 && f <= 1) {
		return 0, fmt.Errorf("is %q, not a share between 0 and 1", v)
	}
	return f, nil
}

func parseBool(v string) (bool, error) {
	return v == "true", oneOf(v, "true", "false")
}

func oneOf(v string, allowed ...string) error {
	if slices.Contains(allowed, v) {
		return nil
	}
	return fmt.Errorf("is %q, not one of: %s", v, strings.Join(allowed, ", "))
}

// parseProxies reads networks and addresses with commas between.
func parseProxies(v string) (list []netip.Prefix, err error) {
	for text := range strings.SplitSeq(v, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		p, err := netip.ParsePrefix(text)
		if a, aerr := netip.ParseAddr(text); aerr == nil {
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("has %q, not a network such as 10.0.0.0/8 or an address", text)
		case p.Bits() == 0:
			return nil, fmt.Errorf("has %s, which trusts everybody: name where the proxies stand", text)
		}
		list = append(list, p.Masked())
	}
	return list, nil
}

func proxiesText(list []netip.Prefix) string {
	var parts []string
	for _, p := range list {
		parts = append(parts, p.String())
	}
	return orUnset(strings.Join(parts, ","))
}

func delaysText(s push.Schedule) string {
	var parts []string
	for _, d := range s {
		parts = append(parts, d.String())
	}
	return strings.Join(parts, ",")
}

func orUnset(s string) string {
	if s == "" {
		return "(unset)"
	}
	return s
}

func orPrivate(s secret) string {
	if s == "" {
		return "(unset: a private server)"
	}
	return maskURL(string(s))
}

// nearest returns the name of known with the fewest letters to change, add or
// drop.
func nearest(name string, known []string) string {
	return slices.MinFunc(known, func(a, b string) int { return distance(name, a) - distance(name, b) })
}

// distance is the Levenshtein distance of a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
