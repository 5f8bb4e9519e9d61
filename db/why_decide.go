package db

import (
	"slices"
	"time"
)

// decide finds the case of a device, whose events are given newest first.
func decide(n whyNotice, d whyDevice, events []whyEvent) Why {
	w := Why{NoticeID: n.ID, DeviceID: d.ID, NoticeTitle: n.Title, AcceptedAt: n.AcceptedAt, Platforms: n.Platforms, Tags: n.Tags}
	switch {
	case d.Status != nil:
		w.ofDelivery(n, d, events)
	case d.ID > n.AudienceMax:
		w.Case, w.At = WhyLater, &d.CreatedAt
	default:
		w.ofNone(n, d, events)
	}
	return w
}

// ofDelivery answers where there is a delivery.
func (w *Why) ofDelivery(n whyNotice, d whyDevice, events []whyEvent) {
	w.At, w.Reason, w.Code, w.Message = d.UpdatedAt, d.Reason, d.Code, d.Message
	switch *d.Status {
	case "sent":
		w.Case, w.At = WhySent, d.SentAt
	case "sending":
		w.Case = WhySending
	case "failed":
		w.Case, w.At = WhyFailed, d.FailedAt
	case "unknown":
		w.Case = WhyUnknown
	case "skipped":
		w.Case = WhySkipped
		switch *d.Reason {
		case "no_consent":
			w.Since = consentGap(d, events, *w.At, *w.At).since
		case "device_disabled":
			w.Since = disabledGap(d, events, *w.At, *w.At).since
		case "device_erased":
			w.Since = d.ErasedAt
		case "cancelled":
			w.By, w.Since = n.StateByName, &n.StateAt
		}
	default:
		w.ofWaiting(n, d)
	}
}

func (w *Why) ofWaiting(n whyNotice, d whyDevice) {
	switch {
	case n.State == Cancelled:
		w.Case, w.At, w.By = WhyCancelling, &n.StateAt, n.StateByName
	case n.Expired:
		w.Case, w.At = WhyExpiring, &n.ExpiresAt
	case n.State == Paused:
		w.Case, w.At, w.By = WhyPaused, &n.StateAt, n.StateByName
	case d.VendorState != "ok":
		w.Case, w.At = WhyVendorPaused, nil
	case d.WakeAt != nil:
		w.Case, w.At = WhyRetry, d.WakeAt
	default:
		w.Case, w.At = WhyWaiting, nil
	}
}

// ofNone answers where there is no delivery, though the device was there when the
// notice was accepted: it did not match when its turn came, or that is still to
// come.
func (w *Why) ofNone(n whyNotice, d whyDevice, events []whyEvent) {
	if n.SettledAt == nil && d.FilledAt == nil && d.DoneAt == nil && (d.InRange || d.ID > n.CutTo) {
		if w.unfit(n, d, events, n.Now, n.Now) {
			return
		}
		switch {
		case n.State == Cancelled:
			w.Case, w.At, w.By = WhyCancelling, &n.StateAt, n.StateByName
		case n.Expired:
			w.Case, w.At = WhyExpiring, &n.ExpiresAt
		case n.State == Paused:
			w.Case, w.At, w.By = WhyToComePaused, &n.StateAt, n.StateByName
		default:
			w.Case = WhyToCome
		}
		return
	}
	from, to := turn(n, d)
	if w.unfit(n, d, events, from, to) || w.notKept(n, d, events) {
		return
	}
	// Times of two transactions that met are not to the millisecond: take what was
	// so at any time since the notice was accepted.
	if !w.gap(d, events, n.AcceptedAt, n.Now) {
		w.Case = WhyNotThen
	}
}

// turn gives the time at which it was asked whether the device matched, or
// between which times.
func turn(n whyNotice, d whyDevice) (from, to time.Time) {
	first := func(list ...*time.Time) time.Time {
		for _, t := range list {
			if t != nil {
				return *t
			}
		}
		return n.Now
	}
	switch {
	case d.FilledAt != nil:
		return *d.FilledAt, *d.FilledAt
	case n.State == Cancelled, n.Expired && n.endedByExpiry():
		return first(n.StartedAt, &n.AcceptedAt), first(n.SettledAt)
	default:
		return first(n.StartedAt, &n.AcceptedAt), first(d.DoneAt, n.CutAt, n.SettledAt)
	}
}

// endedByExpiry says whether the notice's time was over before its devices
// were all listed.
func (n whyNotice) endedByExpiry() bool { return n.CutAt == nil || !n.CutAt.Before(n.ExpiresAt) }

// unfit finds why the device was in no audience, or not in this one, at a time
// between from and to.
func (w *Why) unfit(n whyNotice, d whyDevice, events []whyEvent, from, to time.Time) bool {
	other := func(at time.Time) bool {
		w.Platform = platformAt(d, events, at)
		return len(n.Platforms) > 0 && !slices.Contains(n.Platforms, w.Platform)
	}
	switch {
	case d.ErasedAt != nil && !d.ErasedAt.After(to):
		w.Case, w.At = WhyErased, d.ErasedAt
	case other(to) || other(from):
		w.Case = WhyPlatform
	case d.ErasedAt == nil && misses(n, d) && lastOf(events, EventTags, from) == nil:
		w.Case = WhyTags
	default:
		return w.gap(d, events, from, to)
	}
	return true
}

// gap finds that the device was disabled or had no consent at a time between from
// and to.
func (w *Why) gap(d whyDevice, events []whyEvent, from, to time.Time) bool {
	off, no := disabledGap(d, events, from, to), consentGap(d, events, from, to)
	switch {
	case off.found:
		w.Case, w.Since, w.Until, w.Reason = WhyDisabled, off.since, off.until, off.detail
	case no.found:
		w.Case, w.Since, w.Until = WhyNoConsent, no.since, no.until
	default:
		return false
	}
	return true
}

// notKept finds that what may have been the cause is not kept: what an erased
// device was, or former tags.
func (w *Why) notKept(n whyNotice, d whyDevice, events []whyEvent) bool {
	if d.ErasedAt != nil {
		w.Case, w.At = WhyErasedSince, d.ErasedAt
		return true
	}
	if e := lastOf(events, EventTags, n.AcceptedAt); e != nil && len(n.Tags) > 0 {
		w.Case, w.At = WhyTagsChanged, &e.At
		return true
	}
	return false
}

func misses(n whyNotice, d whyDevice) bool {
	return len(n.Tags) > 0 && !slices.ContainsFunc(d.Tags, func(t string) bool { return slices.Contains(n.Tags, t) })
}

// lastOf gives the last event of a kind after a time, or nil.
func lastOf(events []whyEvent, what string, after time.Time) *whyEvent {
	for i, e := range events {
		if e.What == what && e.At.After(after) {
			return &events[i]
		}
	}
	return nil
}

// platformAt gives the device's platform at a time.
func platformAt(d whyDevice, events []whyEvent, at time.Time) string {
	platform := d.Platform
	for _, e := range events {
		if e.What == EventPlatform && e.At.After(at) && e.Detail != nil {
			platform = *e.Detail
		}
	}
	return platform
}

// gap is a time without consent, or in which a device was disabled.
type gap struct {
	found  bool
	since  *time.Time // nil: not on record
	until  *time.Time // nil: it still lasts
	detail *string
}

func consentGap(d whyDevice, events []whyEvent, from, to time.Time) gap {
	return gapOf(events, EventWithdrawn, EventGiven, gap{found: !d.Consent}, from, to)
}

func disabledGap(d whyDevice, events []whyEvent, from, to time.Time) gap {
	now := gap{found: d.DisabledAt != nil, since: d.DisabledAt, detail: d.DisabledReason}
	return gapOf(events, EventDisabled, EventEnabled, now, from, to)
}

// gapOf finds the last time between from and to that an event of kind begin
// began and one of kind end ended. now says how it is today, which is how it always
// was where no event says otherwise.
func gapOf(events []whyEvent, begin, end string, now gap, from, to time.Time) gap {
	var until *time.Time
	oldest := ""
	for i, e := range events {
		if e.What != begin && e.What != end {
			continue
		}
		if e.What == begin && !e.At.After(to) && (until == nil || until.After(from)) {
			return gap{true, &events[i].At, until, e.Detail}
		}
		until, oldest = &events[i].At, e.What
	}
	switch {
	case oldest == end && until.After(from): // it ended, and its begin is not on record
		return gap{found: true, until: until}
	case oldest == "" && now.found && (now.since == nil || !now.since.After(to)):
		return now
	}
	return gap{}
}
