package jobs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bongsu/db"
	"bongsu/db/devicelist"
	"bongsu/jobs/push/pushsim"
)

// The keys of a subscription, from RFC 8291, appendix A.
const (
	testP256dh = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
	testAuth   = "BTBZMqHH6r4Tts7J_aSIgg"
)

// rejectsOf gives the rejected rows of an import as "row column reason".
func (h *house) rejectsOf(id int64) (list []string) {
	h.t.Helper()
	all, err := h.db.ImportRejects(h.t.Context(), id, 0, 1000)
	h.no(err)
	for _, r := range all {
		list = append(list, fmt.Sprintf("%d %s %s", r.Row, r.Column, r.Reason))
	}
	return list
}

// addresses is every device with its whole address.
const addresses = `SELECT coalesce(string_agg(concat_ws(' ', token, scope, environment, p256dh, auth, platform, person, tags, consent, installation), E'\n' ORDER BY token), '') FROM device`

func TestListOfAllVendors(t *testing.T) {
	var asked atomic.Int64
	h := newHouse(t, pushsim.Config{})
	rule := func(_ context.Context, endpoint string) error {
		asked.Add(1)
		switch db.EndpointHost(endpoint) {
		case "inside.example.com":
			return errors.New("inside.example.com is at a private address")
		case "lost.example.com":
			return &net.DNSError{Err: "no answer", Name: "lost.example.com", IsTimeout: true}
		}
		return nil
	}
	h.process(func(c *Config) { c.Imports, c.CheckEndpoint = h.db, rule })
	keys := testP256dh + "," + testAuth
	list := "token,platform,vendor,environment,p256dh,auth,note\n" +
		"plain,ios,,,,,\n" +
		"fid:cAbC123,android,FCM,,,,\n" +
		"ab12,ios,apns,Sandbox,,,\n" +
		"https://push.example.com/1,web,webpush,," + keys + "=,\n" +
		"cd34,ios,apns,,,,no environment\n" +
		"https://push.example.com/2,web,webpush,,short," + testAuth + ",\n" +
		"https://inside.example.com/secret,web,webpush,," + keys + ",\n" +
		"https://lost.example.com/1,web,webpush,," + keys + ",\n" +
		"x,ios,palm,,,,\n" +
		"y,ios,,sandbox,,,\n"
	for i := range 200 {
		list += fmt.Sprintf("https://push.example.com/more/%d,web,webpush,,%s,\n", i, keys)
	}
	id := h.list(list, db.ImportOptions{})
	h.sums(id, "done total 210 created 204 updated 0 unchanged 0 rejected 6 doubled 0")
	want := []string{"6 environment bad_environment", "7 p256dh bad_p256dh", "8 token bad_token", "9 token host_unsure", "10 vendor bad_vendor", "11 environment bad_environment"}
	if diff := cmp.Diff(want, h.rejectsOf(id)); diff != "" {
		t.Error(diff)
	}
	if n := asked.Load(); n != 3 {
		t.Errorf("asked about hosts %d times", n)
	}
	rejects, err := h.db.ImportRejects(t.Context(), id, 7, 1)
	h.no(err)
	if r := rejects[0]; r.Cells[0] != "https://inside.example.com/secret" || r.Cells[5] != testAuth || strings.Contains(r.Value+r.Message, "/") {
		t.Errorf("rejected %+v", r)
	}
	// What an export gives goes in again without a change.
	before := h.look(addresses)
	h.sums(h.list(h.export(), db.ImportOptions{FullList: true}), "done total 204 created 0 updated 0 unchanged 204 rejected 0 doubled 0")
	if diff := cmp.Diff(before, h.look(addresses)); diff != "" {
		t.Error(diff)
	}
	kept := h.look(`SELECT concat((SELECT string_agg(e::text, ' ') FROM device_event e), (SELECT string_agg(a::text, ' ') FROM audit a))`)
	if strings.Contains(kept, testAuth) || strings.Contains(kept, "push.example.com/1") {
		t.Error("a secret is in a history or in the log of acts")
	}
}

// export writes all devices as an export does.
func (h *house) export() string {
	h.t.Helper()
	list, err := h.db.ExportDevices(h.t.Context(), db.ExportFilter{}, 0, 1000)
	h.no(err)
	var file strings.Builder
	w := devicelist.NewWriter(&file, devicelist.Columns())
	for _, d := range list {
		h.no(w.Write(devicelist.Device{Token: d.Token, Platform: d.Platform, User: d.Person, Tags: d.Tags, Consent: d.Consent,
			Installation: d.Installation, Vendor: d.Kind, Environment: d.Environment, P256dh: d.P256dh, Auth: d.Auth}.Cells()))
	}
	h.no(w.Flush())
	return file.String()
}
