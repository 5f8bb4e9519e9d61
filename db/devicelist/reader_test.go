package devicelist_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bongsu/db/devicelist"
)

// readAll reads a whole list that has nothing wrong with its form as a file.
func readAll(t *testing.T, text string) (devicelist.Head, []devicelist.Row) {
	t.Helper()
	r, err := devicelist.NewReader(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var rows []devicelist.Row
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.Head(), rows
		}
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
}

func ptr[T any](v T) *T { return &v }

func TestPlainList(t *testing.T) {
	head, rows := readAll(t, "Token;note; PLATFORM ;user;tags;consent;installation;Auth;P256DH; Vendor;environment\r\n"+
		" a-1 ;\"x;y\";iOS; Ana ;a | b;Yes;i-1; Sec ; Key ; APNs ;Sandbox\r\n"+
		"\r\n"+
		"a-2;;web;;;;;; ;;\n"+
		"a-3\r")
	wantHead := devicelist.Head{
		Encoding: devicelist.UTF8, Delimiter: ';',
		Columns: []string{"Token", "note", " PLATFORM ", "user", "tags", "consent", "installation", "Auth", "P256DH", " Vendor", "environment"},
		Known:   devicelist.Columns(), Ignored: []string{"note"},
	}
	if diff := cmp.Diff(wantHead, head); diff != "" {
		t.Error(diff)
	}
	want := []devicelist.Row{
		{
			Number: 2, Cells: []string{" a-1 ", "x;y", "iOS", " Ana ", "a | b", "Yes", "i-1", " Sec ", " Key ", " APNs ", "Sandbox"},
			Token: "a-1", Platform: "ios", User: ptr("Ana"), Tags: &[]string{"a", "b"}, Consent: ptr(true), Installation: ptr("i-1"),
			Vendor: ptr("apns"), Environment: ptr("sandbox"), P256dh: ptr("Key"), Auth: ptr("Sec"),
		},
		{Number: 4, Cells: []string{"a-2", "", "web", "", "", "", "", "", " ", "", ""}, Token: "a-2", Platform: "web", User: ptr(""), Tags: &[]string{}},
		{Number: 5, Cells: []string{"a-3"}, Token: "a-3", User: ptr(""), Tags: &[]string{}},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
}

func TestAbsentColumns(t *testing.T) {
	_, rows := readAll(t, "platform,token\nweb,a-1\n")
	want := []devicelist.Row{{Number: 2, Cells: []string{"web", "a-1"}, Token: "a-1", Platform: "web"}}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
}
