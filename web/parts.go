package web

import (
	"time"

	"bongsu/db"
	"bongsu/views"
)

// What Deps tells of the machines below.
type (
	// Disk is the room where the database keeps its data, in bytes.
	Disk struct{ Free, Total int64 }
	// Memory is what Redis uses and may use, in bytes; Max 0: as much as there is.
	Memory struct{ Used, Max int64 }
)

// When a part is worth a warning.
const (
	backlogAge = time.Minute // the oldest work has been due for so long
	diskLeft   = 0.05        // of the whole is left on the disk
	memoryUsed = 0.9         // of Redis's limit is in use
	connsUsed  = 0.9         // of the database's connections
)

// part gives a row that is well.
func part(key, facts string) views.StatusRow {
	return views.StatusRow{Key: key, State: views.StateOK, Facts: facts}
}

// troubleMessage names the message of a database's trouble.
func troubleMessage(c db.Cause) string {
	return map[db.Cause]string{db.Away: "database-down", db.ReadOnly: "database-read-only",
		db.DiskFull: "disk-full", db.Crowded: "database-connections"}[c]
}

// partsOf gives the parts as the ledger knows them, without what only Status
// asks for: the badge and the Status page agree about them.
func partsOf(o outlook) []views.StatusRow {
	rows := []views.StatusRow{databasePart(o), queuePart(o.st)}
	for _, v := range o.st.Vendors {
		rows = append(rows, vendorPart(o.st, v))
	}
	return append(rows, workerPart(o.st), feederPart(o.st), backlogPart(o.st), stalledPart(o.st))
}

func databasePart(o outlook) views.StatusRow {
	row := part("database", "")
	if o.trouble != db.NoCause {
		row.State, row.Message, row.Since = views.StateDown, troubleMessage(o.trouble), stamp(o.since)
	}
	return row
}

func queuePart(st db.Status) views.StatusRow {
	row := part("redis", "")
	switch {
	case st.QueueDownSince != nil:
		row.State, row.Message, row.Since = views.StateDown, "redis-down", stampOf(st.QueueDownSince)
		row.Facts = views.JoinFacts(st.QueueError, views.WaitingFacts(st.Backlog), views.AheadFacts(st.AheadNotices, st.AheadDevices))
		if isFull(st.QueueError) {
			row.Message = "redis-full"
		}
	case st.QueueOKAt == nil:
		row.State, row.Facts = views.StateUnknown, views.Said().NotAskedYet
	}
	return row
}

// isFull knows Redis's own word for being at its maxmemory.
func isFull(redisError string) bool {
	return len(redisError) >= 4 && redisError[:4] == "OOM "
}

// vendorMessages names the message of a reason for which a vendor is not called.
var vendorMessages = map[string]string{"credentials_refused": "vendor-credentials", "refusals": "vendor-refusals",
	"not_configured": "vendor-credentials"}

func vendorPart(st db.Status, v db.VendorState) views.StatusRow {
	row := part("vendor", v.Scope)
	row.Last = stampOf(v.OKAt)
	switch {
	case v.State != "ok":
		row.State, row.Since, row.Next = views.StateDown, stamp(v.Since), stampOf(v.NextProbeAt)
		row.Facts = v.Scope + ", " + v.State + ": " + textOf(v.Detail)
		if row.Message = vendorMessages[textOf(v.Reason)]; row.Message == "" {
			row.Message = "vendor-outage"
		}
	case v.KeepDevices:
		row.State, row.Since, row.Message = views.StateWarn, stampOf(v.KeptSince), "devices-kept"
	case v.WaitUntil != nil && v.WaitUntil.After(st.Now):
		row.State, row.Message, row.Next = views.StateWarn, "vendor-waits", stampOf(v.WaitUntil)
	}
	return row
}

func workerPart(st db.Status) views.StatusRow {
	if len(st.Workers) == 0 {
		return views.StatusRow{Key: "workers", State: views.StateDown, Message: "no-worker", Since: stampOf(st.LastWorkerAt)}
	}
	var calls, slots int64
	for _, w := range st.Workers {
		calls, slots = calls+int64(w.InFlight), slots+int64(w.Slots)
	}
	return part("workers", views.WorkerFacts(int64(len(st.Workers)), calls, slots))
}

func feederPart(st db.Status) views.StatusRow {
	if st.FeederLease.After(st.Now) {
		return part("feeder", st.FeederHolder)
	}
	row := views.StatusRow{Key: "feeder", State: views.StateDown, Message: "no-feeder"}
	if len(st.Workers) == 0 {
		row.Message = "no-worker" // workers feed; there is no other to take over
	}
	if st.FeederHolder != "" && st.FeederLease.Year() > 1970 { // given away or never had: the time is not known
		row.Since = stamp(st.FeederLease)
	}
	return row
}

// oldestWork is since when the oldest work is due; now where none is.
func oldestWork(st db.Status) time.Time {
	oldest := st.Now
	for _, t := range []*time.Time{st.OldestDue, st.OldestAccepted} {
		if t != nil && t.Before(oldest) {
			oldest = *t
		}
	}
	return oldest
}

// backlogPart warns where work has been due for long.
func backlogPart(st db.Status) views.StatusRow {
	row := part("backlog", views.JoinFacts(views.BacklogFacts(st.Backlog, st.OpenNotices), views.AheadFacts(st.AheadNotices, st.AheadDevices)))
	oldest := oldestWork(st)
	if age := st.Now.Sub(oldest); age > 0 {
		row.Facts = views.JoinFacts(row.Facts, views.OldestFacts(int64(age.Seconds())))
		if age > backlogAge {
			row.State, row.Message, row.Since = views.StateWarn, "backlog-old", stamp(oldest)
		}
	}
	return row
}

// stalledPart names the notices that do not move.
func stalledPart(st db.Status) views.StatusRow {
	row := part("notices", views.Said().AllMove)
	if len(st.Stalled) == 0 {
		return row
	}
	row.State, row.Message, row.Since = views.StateWarn, "notice-stalled", stamp(st.Stalled[0].Since)
	row.Facts = views.StalledFacts(int64(len(st.Stalled)))
	for _, x := range st.Stalled {
		row.Links = append(row.Links, views.StatusLink{Href: noticeHref(x.ID), Text: "#" + idText(x.ID) + " " + x.Title, Since: stamp(x.Since)})
	}
	return row
}
