package devicelist_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bongsu/db/devicelist"
)

func TestExportIsSafeAndReadAgain(t *testing.T) {
	devices := [][]string{
		devicelist.Device{Token: "-a1", Platform: "web", User: ptr("=1+1"), Tags: []string{"a", "b"}, Consent: true, Installation: ptr("@i"), Vendor: "http"}.Cells(),
		devicelist.Device{Token: "'=a2", Platform: "ios", User: ptr("+82 10"), Vendor: "http"}.Cells(),
		devicelist.Device{Token: "a,3", Platform: "android", Tags: []string{rtl}, Consent: true, Installation: ptr(`say "hi"`), Vendor: "http"}.Cells(),
		devicelist.Device{Token: "'a4", Platform: "web", User: ptr("'"), Consent: true, Installation: ptr(" x "), Vendor: "http"}.Cells(),
		devicelist.Device{Token: "''=a5", Platform: "web", User: ptr(korean), Consent: true, Installation: ptr("''"), Vendor: "http"}.Cells(),
		devicelist.Device{Token: "https://p.example/6", Platform: "web", Vendor: "webpush", P256dh: ptr("-Key"), Auth: ptr("Sec")}.Cells(),
		devicelist.Device{Token: "a7", Platform: "ios", Vendor: "apns", Environment: ptr("sandbox")}.Cells(),
	}
	var file strings.Builder
	w := devicelist.NewWriter(&file, devicelist.Columns())
	for _, d := range devices {
		if err := w.Write(d); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	want := bom + "token,platform,user,tags,consent,installation,vendor,environment,p256dh,auth\r\n" +
		"'-a1,web,'=1+1,a|b,true,'@i,http,,,\r\n" +
		"''=a2,ios,'+82 10,,false,,http,,,\r\n" +
		"\"a,3\",android,," + rtl + ",true,\"say \"\"hi\"\"\",http,,,\r\n" +
		"'a4,web,',,true,\" x \",http,,,\r\n" +
		"'''=a5,web," + korean + ",,true,'',http,,,\r\n" +
		"https://p.example/6,web,,,false,,webpush,,'-Key,Sec\r\n" +
		"a7,ios,,,false,,apns,sandbox,,\r\n"
	if diff := cmp.Diff(want, file.String()); diff != "" {
		t.Error(diff)
	}
	_, rows := readAll(t, file.String())
	if len(rows) != len(devices) {
		t.Fatalf("%d rows, want %d", len(rows), len(devices))
	}
	for i, row := range rows {
		if diff := cmp.Diff(devices[i], row.Cells); diff != "" || len(row.Problems) > 0 {
			t.Errorf("%s %v", diff, row.Problems)
		}
	}
	if *rows[5].P256dh != "-Key" || *rows[5].Auth != "Sec" || *rows[6].Environment != "sandbox" || *rows[6].Vendor != "apns" {
		t.Errorf("read as %s and %s", flat(rows[5]), flat(rows[6]))
	}
	if rows[0].Token != "-a1" || *rows[0].User != "=1+1" || *rows[0].Installation != "@i" {
		t.Errorf("read as %s", flat(rows[0]))
	}
}

// TestRejectedRowsGoOut writes rows as they came: too short, too long, with a
// zero byte. The too long one is rejected again.
func TestRejectedRowsGoOut(t *testing.T) {
	var file strings.Builder
	w := devicelist.NewWriter(&file, []string{"reason", "token", "platform"})
	for _, cells := range [][]string{{"x", "a-1"}, {"x", "a-2", "web", "more"}, {"x", "a\x003", "web"}} {
		if err := w.Write(cells); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	_, good, bad, fault := read(t, strings.NewReader(file.String()))
	if diff := cmp.Diff([]string{`2 a-1 "" - - - -`}, good); diff != "" || fault != nil {
		t.Errorf("%s %v", diff, fault)
	}
	if diff := cmp.Diff([]string{"3  too_many_cells", "4 token zero_byte"}, bad); diff != "" {
		t.Error(diff)
	}
}

type full struct{}

var errFull = errors.New("no room")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriterTellsErrors(t *testing.T) {
	w := devicelist.NewWriter(full{}, devicelist.Columns())
	if err := w.Flush(); !errors.Is(err, errFull) {
		t.Errorf("Flush: %v", err)
	}
	if err := w.Write([]string{"a-1"}); !errors.Is(err, errFull) {
		t.Errorf("Write: %v", err)
	}
}
