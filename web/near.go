package web

import (
	"slices"
	"strings"
)

// nearAtMost is how many words are offered in place of a mistyped one.
const nearAtMost = 3

// near gives those of known that word may have meant, the likeliest first: the same
// but for capitals, the rest of a word that was begun, or two letters away at most (one
// where it is short).
func near(word string, known []string) (list []string) {
	type hit struct {
		word string
		off  int
	}
	var hits []hit
	for _, k := range known {
		a, b := []rune(strings.ToLower(word)), []rune(strings.ToLower(k))
		allowed := 2
		if len(a) < 5 {
			allowed = 1
		}
		begun := len(a) >= 3 && strings.HasPrefix(string(b), string(a))
		if max(len(a)-len(b), len(b)-len(a)) > allowed && !begun {
			continue
		}
		if off := letters(a, b); off <= allowed || begun {
			hits = append(hits, hit{k, off})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return a.off - b.off })
	for _, h := range hits[:min(len(hits), nearAtMost)] {
		list = append(list, h.word)
	}
	return list
}

// letters is how many letters must be changed, added or dropped to make b of a.
func letters(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		last := row[0]
		row[0] = i + 1
		for j, y := range b {
			change := last
			if x != y {
				change++
			}
			last = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
