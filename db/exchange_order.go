package db

import (
	"cmp"
	"slices"
)

// exchangeTries is how often Exchange tries at most where it meets a deadlock.
// The orders below keep it out of most; a claim that waits for a row whose holder
// goes on to claim can still meet one.
const exchangeTries = 5

// lockCountersSQL holds the counters of several notices, in the order of their
// ids: two who share a shard would else take them crosswise.
const lockCountersSQL = `
	SELECT FROM notice_counter WHERE shard = $1 AND notice_id = ANY($2) ORDER BY notice_id, scope FOR NO KEY UPDATE`

// byDevice gives results in the order in which everybody locks devices.
func byDevice(results []Result) []Result {
	results = slices.Clone(results)
	slices.SortFunc(results, func(a, b Result) int {
		return cmp.Or(cmp.Compare(a.Claim.DeviceID, b.Claim.DeviceID), cmp.Compare(a.Claim.NoticeID, b.Claim.NoticeID))
	})
	return results
}

// byNotice gives wants in the order in which everybody claims, and the place that
// each had.
func byNotice(wants []Want) (sorted []Want, place []int) {
	place = make([]int, len(wants))
	for i := range place {
		place[i] = i
	}
	slices.SortStableFunc(place, func(i, j int) int {
		return cmp.Or(cmp.Compare(wants[i].Notice, wants[j].Notice), cmp.Compare(wants[i].Scope, wants[j].Scope), cmp.Compare(wants[i].After, wants[j].After))
	})
	sorted = make([]Want, len(wants))
	for i, p := range place {
		sorted[i] = wants[p]
	}
	return sorted, place
}

// noticesOf gives the notices that an exchange is about, each once, sorted.
func noticesOf(results []Result, wants []Want) []int64 {
	var ids []int64
	for _, r := range results {
		ids = append(ids, r.Claim.NoticeID)
	}
	for _, w := range wants {
		ids = append(ids, w.Notice)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
