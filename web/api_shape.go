package web

import (
	"time"

	"bongsu/db"
)

// The answers of the API. Times are RFC 3339 in UTC; ids are numbers.

type countsJSON struct {
	Total    int64 `json:"total"`
	Pending  int64 `json:"pending"`
	Retrying int64 `json:"retrying"`
	Sending  int64 `json:"sending"`
	Sent     int64 `json:"sent"`
	Failed   int64 `json:"failed"`
	Skipped  int64 `json:"skipped"`
	Unknown  int64 `json:"unknown"`
}

type audienceJSON struct {
	Platforms []string `json:"platforms"`
	Tags      []string `json:"tags"`
}

type noticeJSON struct {
	ID            int64        `json:"id"`
	State         string       `json:"state"`
	Title         string       `json:"title"`
	Body          string       `json:"body"`
	Link          *string      `json:"link,omitempty"`
	Category      string       `json:"category"`
	Audience      audienceJSON `json:"audience"`
	RepeatOf      *int64       `json:"repeat_of,omitempty"`
	Counts        countsJSON   `json:"counts"`
	PossiblyTwice int64        `json:"possibly_twice"`
	Estimate      *int64       `json:"estimate,omitempty"`
	FannedOut     bool         `json:"fanned_out"`
	AcceptedBy    string       `json:"accepted_by"`
	AcceptedAt    time.Time    `json:"accepted_at"`
	StartedAt     *time.Time   `json:"started_at"`
	FinishedAt    *time.Time   `json:"finished_at"`
	ExpiresAt     time.Time    `json:"expires_at"`
	NewestRepeat  *repeatJSON  `json:"newest_repeat,omitempty"`
}

type repeatJSON struct {
	ID    int64  `json:"id"`
	State string `json:"state"`
}

func shapeNotice(n db.Notice, c db.Counts) noticeJSON {
	return noticeJSON{
		ID: n.ID, State: n.State, Title: n.Title, Body: n.Body, Link: n.Link, Category: n.Category,
		Audience: audienceJSON{orNone(n.Platforms), orNone(n.Tags)}, RepeatOf: n.RepeatOf,
		Counts:        countsJSON{c.Total, c.Pending, c.Retrying, c.Sending, c.Sent, c.Failed, c.Skipped, c.Unknown},
		PossiblyTwice: c.Twice, Estimate: n.Estimate, FannedOut: n.FannedOutAt != nil,
		AcceptedBy: n.AcceptedByName, AcceptedAt: n.AcceptedAt.UTC(), StartedAt: utc(n.StartedAt),
		FinishedAt: utc(n.FinishedAt), ExpiresAt: n.ExpiresAt.UTC(),
	}
}

type deliveryJSON struct {
	NoticeID      int64      `json:"notice_id"`
	DeviceID      int64      `json:"device_id"`
	Status        string     `json:"status"`
	Reason        *string    `json:"reason,omitempty"`
	Code          *string    `json:"code,omitempty"`
	Message       *string    `json:"message,omitempty"`
	Attempts      int        `json:"attempts"`
	Generation    int        `json:"generation"`
	PossiblyTwice bool       `json:"possibly_twice"`
	DueAt         *time.Time `json:"due_at,omitempty"`
	SentAt        *time.Time `json:"sent_at,omitempty"`
	FailedAt      *time.Time `json:"failed_at,omitempty"`
	UpdatedAt     time.Time  `json:"updated_at"`
}

func shapeDelivery(d db.Delivery) deliveryJSON {
	status := d.Status
	if status == "pending" && d.Charged > 0 {
		status = "retrying" // as the counts and the filter call it
	}
	return deliveryJSON{
		NoticeID: d.NoticeID, DeviceID: d.DeviceID, Status: status, Reason: d.Reason, Code: d.Code,
		Message: d.Message, Attempts: d.Attempts, Generation: d.Generation, PossiblyTwice: d.Twice,
		DueAt: utc(d.DueAt), SentAt: utc(d.SentAt), FailedAt: utc(d.FailedAt), UpdatedAt: d.UpdatedAt.UTC(),
	}
}

type attemptJSON struct {
	Number     int       `json:"number"`
	Generation int       `json:"generation"`
	StartedAt  time.Time `json:"started_at"`
	TookMS     int       `json:"took_ms"`
	HTTPStatus *int      `json:"http_status,omitempty"`
	Outcome    string    `json:"outcome"`
	Charged    bool      `json:"charged"`
	Doubt      bool      `json:"doubt"`
	Reason     *string   `json:"reason,omitempty"`
	Code       *string   `json:"code,omitempty"`
	Message    *string   `json:"message,omitempty"`
	MessageID  *string   `json:"message_id,omitempty"`
}

type deviceDeliveryJSON struct {
	deliveryJSON
	NoticeTitle string        `json:"notice_title"`
	NoticeState string        `json:"notice_state"`
	History     []attemptJSON `json:"history"`
}

func shapeDeviceDelivery(d db.DeviceDelivery) deviceDeliveryJSON {
	j := deviceDeliveryJSON{shapeDelivery(d.Delivery), d.NoticeTitle, d.NoticeState, make([]attemptJSON, len(d.AttemptRows))}
	for i, a := range d.AttemptRows {
		j.History[i] = attemptJSON{
			Number: i + 1, Generation: a.Generation, StartedAt: a.StartedAt.UTC(), TookMS: a.TookMs, HTTPStatus: a.HTTP,
			Outcome: a.Outcome, Charged: a.Charged, Doubt: a.Doubt, Reason: a.Reason, Code: a.Code,
			Message: a.Message, MessageID: a.MessageID,
		}
	}
	return j
}

type deviceJSON struct {
	ID             int64      `json:"id"`
	Vendor         string     `json:"vendor"`
	Environment    *string    `json:"environment"`
	Platform       string     `json:"platform"`
	TokenMasked    string     `json:"token_masked"`
	User           *string    `json:"user"`
	Tags           []string   `json:"tags"`
	Consent        bool       `json:"consent"`
	Installation   *string    `json:"installation"`
	DisabledAt     *time.Time `json:"disabled_at"`
	DisabledReason *string    `json:"disabled_reason"`
	ErasedAt       *time.Time `json:"erased_at"`
	RegisteredAt   time.Time  `json:"registered_at"`
	CreatedAt      time.Time  `json:"created_at"`
	UpdatedAt      time.Time  `json:"updated_at"`
}

func shapeDevice(d db.Device) deviceJSON {
	return deviceJSON{
		ID: d.ID, Vendor: d.Kind, Environment: d.Environment, Platform: d.Platform, TokenMasked: d.TokenMasked, User: d.Person, Tags: orNone(d.Tags),
		Consent: d.Consent, Installation: d.Installation, DisabledAt: utc(d.DisabledAt), DisabledReason: d.DisabledReason,
		ErasedAt: utc(d.ErasedAt), RegisteredAt: d.RegisteredAt.UTC(), CreatedAt: d.CreatedAt.UTC(), UpdatedAt: d.UpdatedAt.UTC(),
	}
}

type testSendJSON struct {
	ID         int64            `json:"id"`
	State      string           `json:"state"`
	Title      string           `json:"title"`
	Body       string           `json:"body"`
	Link       *string          `json:"link,omitempty"`
	AskedBy    string           `json:"asked_by"`
	AskedAt    time.Time        `json:"asked_at"`
	FinishedAt *time.Time       `json:"finished_at"`
	Devices    []testDeviceJSON `json:"devices"`
}

type testDeviceJSON struct {
	DeviceID  int64      `json:"device_id"`
	Status    string     `json:"status"`
	Reason    *string    `json:"reason,omitempty"`
	Code      *string    `json:"code,omitempty"`
	Message   *string    `json:"message,omitempty"`
	SentAt    *time.Time `json:"sent_at,omitempty"`
	UpdatedAt time.Time  `json:"updated_at"`
}

func shapeTestSend(t db.TestSend) testSendJSON {
	j := testSendJSON{ID: t.ID, State: "running", Title: t.Title, Body: t.Body, Link: t.Link, AskedBy: t.AskedByName,
		AskedAt: t.AskedAt.UTC(), FinishedAt: utc(t.FinishedAt), Devices: make([]testDeviceJSON, len(t.Devices))}
	if t.FinishedAt != nil {
		j.State = "done"
	}
	for i, d := range t.Devices {
		j.Devices[i] = testDeviceJSON{d.DeviceID, d.Status, d.Reason, d.Code, d.Message, utc(d.SentAt), d.UpdatedAt.UTC()}
	}
	return j
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

// orNone gives an empty list for nil, which JSON would write as null.
func orNone(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
