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
		devicelist.Cells("-a1", "web", ptr("=1+1"), []string{"a", "b"}, true, ptr("@i")),
		devicelist.Cells("'=a2", "ios", ptr("+82 10"), nil, false, nil),
		devicelist.Cells("a,3", "android", nil, []string{rtl}, true, ptr(`say "hi"`)),
		devicelist.Cells("'a4", "web", ptr("'"), nil, true, ptr(" x ")),
		devicelist.Cells("''=a5", "web", ptr(korean), nil, true, ptr("''")),
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
	want := bom + "token,platform,user,tags,consent,installation\r\n" +
		"'-a1,web,'=1+1,a|b,true,'@i\r\n" +
		"''=a2,ios,'+82 10,,false,\r\n" +
		"\"a,3\",android,," + rtl + ",true,\"say \"\"hi\"\"\"\r\n" +
		"'a4,web,',,true,\" x \"\r\n" +
		"'''=a5,web," + korean + ",,true,''\r\n"
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
