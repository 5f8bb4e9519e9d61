package devicelist_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"bongsu/db/devicelist"
)

// odd is a file as the world makes them, and what has to come of it.
type odd struct {
	name string
	file string
	head string   // encoding, delimiter, gz; "": utf-8 ,
	rows []string // number token platform user tags consent installation, and where there is one the vendor; absent: -, empty: ""
	bad  []string // number column reason
	code string   // of the *FormatError
	row  int64    // of the *FormatError
	says string   // part of its message
}

// flat tells a row in one line.
func flat(r devicelist.Row) string {
	var b strings.Builder
	word := func(s *string) string {
		switch {
		case s == nil:
			return "-"
		case *s == "":
			return `""`
		default:
			return *s
		}
	}
	b.WriteString(strings.Join([]string{number(r.Number), word(&r.Token), word(&r.Platform), word(r.User)}, " "))
	switch {
	case r.Tags == nil:
		b.WriteString(" -")
	default:
		b.WriteString(" [" + strings.Join(*r.Tags, "|") + "]")
	}
	switch {
	case r.Consent == nil:
		b.WriteString(" -")
	case *r.Consent:
		b.WriteString(" yes")
	default:
		b.WriteString(" no")
	}
	b.WriteString(" " + word(r.Installation))
	if r.Vendor != nil || r.Environment != nil || r.P256dh != nil || r.Auth != nil {
		b.WriteString(" at " + strings.Join([]string{word(r.Vendor), word(r.Environment), word(r.P256dh), word(r.Auth)}, " "))
	}
	return b.String()
}

func number(n int64) string {
	var digits []byte
	for ; n > 0; n /= 10 {
		digits = append([]byte{byte('0' + n%10)}, digits...)
	}
	return string(digits)
}

// read reads a file to its end or its fault.
func read(t *testing.T, file io.Reader) (head devicelist.Head, good, bad []string, fault *devicelist.FormatError) {
	t.Helper()
	r, err := devicelist.NewReader(file)
	for err == nil {
		if head.Columns == nil {
			head = r.Head()
		}
		var row devicelist.Row
		if row, err = r.Next(); err != nil {
			break
		}
		if len(row.Problems) == 0 {
			good = append(good, flat(row))
		}
		for _, p := range row.Problems {
			if p.Message == "" {
				t.Errorf("row %d: %s says nothing", row.Number, p.Reason)
			}
			bad = append(bad, strings.Join([]string{number(row.Number), p.Column, string(p.Reason)}, " "))
		}
	}
	if errors.Is(err, io.EOF) {
		return head, good, bad, nil
	}
	if !errors.As(err, &fault) {
		t.Fatalf("neither the end nor a fault of the file: %v", err)
	}
	return head, good, bad, fault
}

func utf16Of(order binary.AppendByteOrder, mark bool, text string) string {
	var out []byte
	if mark {
		out = order.AppendUint16(out, 0xFEFF)
	}
	for _, u := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, u)
	}
	return string(out)
}

func gz(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.String()
}

const (
	bom    = "\xEF\xBB\xBF"
	plain  = "token,platform\na-1,web\na-2,ios\n"
	rtl    = "\u05d0\u05d1\u05d2" // Hebrew
	nfd    = "Zoe\u0308"
	nfc    = "Zo\u00eb"
	korean = "김봉수"
)

var plainRows = []string{"2 a-1 web - - - -", "3 a-2 ios - - - -"}

// corpus has the encodings, delimiters and programs; corpusOdd the rest.
func corpus() []odd {
	le, be := binary.LittleEndian, binary.BigEndian
	full := "token,platform,user,tags,consent,installation\na-1,web," + korean + ",a|b,true,i-1\n"
	fullRows := []string{"2 a-1 web " + korean + " [a|b] yes i-1"}
	tabs := strings.ReplaceAll(full, ",", "\t")
	return []odd{
		{name: "UTF-8", file: plain, rows: plainRows},
		{name: "UTF-8 with a mark", file: bom + plain, rows: plainRows},
		{name: "UTF-8 with two marks", file: bom + bom + plain, rows: plainRows},
		{name: "UTF-16 LE with a mark", file: utf16Of(le, true, full), head: "UTF-16LE ,", rows: fullRows},
		{name: "UTF-16 BE with a mark", file: utf16Of(be, true, full), head: "UTF-16BE ,", rows: fullRows},
		{name: "UTF-16 LE without", file: utf16Of(le, false, full), head: "UTF-16LE ,", rows: fullRows},
		{name: "UTF-16 BE without", file: utf16Of(be, false, full), head: "UTF-16BE ,", rows: fullRows},
		{name: "UTF-16 beyond the first plane", file: utf16Of(le, true, "token,platform,user\na-1,web,😀\n"), head: "UTF-16LE ,", rows: []string{"2 a-1 web 😀 - - -"}},
		{name: "UTF-16 cut within a character", file: utf16Of(le, true, plain) + "a", head: "UTF-16LE ,", rows: plainRows, code: "bad_encoding", row: 4, says: "not valid UTF-16LE"},
		{name: "UTF-16 with half a pair", file: utf16Of(le, true, "token,platform,user\na-1,web,") + "\x3D\xD8" + utf16Of(le, false, "x\n"), head: "UTF-16LE ,", code: "bad_encoding", row: 2, says: "not valid UTF-16LE"},
		{name: "UTF-16 that ends with half a pair", file: utf16Of(be, true, "token,platform,user\na-1,web,") + "\xD8\x3D", head: "UTF-16BE ,", code: "bad_encoding", row: 2, says: "not valid UTF-16BE"},
		{name: "UTF-32", file: "\xFF\xFE\x00\x00t\x00\x00\x00", code: "bad_encoding", says: "UTF-32"},
		{name: "Windows-1252", file: "token,platform,user\na-1,web,Ana\na-2,web,J\xFCrgen\na-3,web,Bo\n", rows: []string{"2 a-1 web Ana - - -"}, code: "bad_encoding", row: 3, says: "Row 3: it holds bytes that are not valid UTF-8. Save the file as CSV UTF-8"},
		{name: "Windows-1252 in a further column", file: "token,platform,city\na-1,web,M\xFCnchen\n", code: "bad_encoding", row: 2, says: "Row 2"},
		{name: "CP949 in the header", file: "token,platform,\xC0\xCC\xB8\xA7\na-1,web,x\n", code: "bad_encoding", row: 1, says: "Row 1"},
		{name: "a character cut by a cell's end", file: "token,platform,user,note\na-1,web,\xC3,\xA4\n", code: "bad_encoding", row: 2, says: "Row 2"},

		{name: "semicolons", file: strings.ReplaceAll(plain, ",", ";"), head: "UTF-8 ;", rows: plainRows},
		{name: "tabs", file: tabs, head: "UTF-8 tab", rows: fullRows},
		{name: "semicolons and commas in names", file: "token;platform;\"a,b,c,d,e\"\na-1;web;x\n", head: "UTF-8 ;", rows: []string{"2 a-1 web - - - -"}},
		{name: "a name full of other columns", file: "token,platform,\"x;user;tags;consent;y\"\na-1,web,x\n", rows: []string{"2 a-1 web - - - -"}},
		{name: "a line that names the delimiter", file: "sep=;\r\ntoken;platform\r\na-1;web\r\n", head: "UTF-8 ;", rows: []string{"2 a-1 web - - - -"}},

		{name: "Excel, CSV UTF-8 of Germany", file: bom + "token;platform;user\r\na-1;web;\"Meier; Jan\"\r\n;;\r\n", head: "UTF-8 ;", rows: []string{"2 a-1 web Meier; Jan - - -"}},
		{name: "Excel, Unicode text", file: utf16Of(le, true, strings.ReplaceAll(tabs, "\n", "\r\n")), head: "UTF-16LE tab", rows: fullRows},
		{name: "Excel, wide empty cells", file: "token,platform,,\r\na-1,web,,\r\n,,,\r\n", rows: []string{"2 a-1 web - - - -"}},
		{name: "LibreOffice, all text quoted", file: "\"token\",\"platform\",\"consent\"\n\"a-1\",\"web\",\"TRUE\"\n", rows: []string{"2 a-1 web - - yes -"}},
		{name: "Google Sheets, no last line end", file: "token,platform,user\r\na-1,web,\"Ana \"\"A\"\" B\"", rows: []string{"2 a-1 web Ana \"A\" B - - -"}},
		{name: "Google Sheets, tabs with a bare quote in a further column", file: "token\tplatform\tnote\na-1\tweb\t5\" glass\n", head: "UTF-8 tab", rows: []string{"2 a-1 web - - - -"}},
		{name: "Numbers, a table's name on top", file: "Devices,,\ntoken,platform,user\na-1,web,Ana\n", code: "no_header", row: 1, says: "the one name \"devices\", and none of the columns"},
		{name: "Numbers", file: "token;platform;consent\r\na-1;web;1\r\n", head: "UTF-8 ;", rows: []string{"2 a-1 web - - yes -"}},
		{name: "pandas with its index", file: ",token,platform\n0,a-1,web\n", rows: []string{"2 a-1 web - - - -"}},
		{name: "psql", file: "token,platform,tags,consent\na-1,web,,t\n", bad: []string{"2 consent bad_consent"}},

		{name: "gzip", file: gz(plain), head: "UTF-8 , gz", rows: plainRows},
		{name: "gzip of UTF-16", file: gz(utf16Of(le, true, plain)), head: "UTF-16LE , gz", rows: plainRows},
		{name: "gzip in two members", file: gz(plain) + gz("a-3,web\n"), head: "UTF-8 , gz", rows: append(plainRows[:2:2], "4 a-3 web - - - -")},
		{name: "gzip cut in its header", file: gz(plain)[:5], code: "damaged_gzip", says: "cut off or damaged before its first row"},
		{name: "gzip cut at its end", file: gz(plain)[:len(gz(plain))-6], head: "UTF-8 , gz", rows: plainRows, code: "damaged_gzip", row: 3, says: "after row 3"},
		{name: "gzip with a wrong sum", file: gz(plain)[:len(gz(plain))-8] + "12345678", head: "UTF-8 , gz", rows: plainRows, code: "damaged_gzip", row: 3, says: "after row 3"},
		{name: "gzip twice", file: gz(gz(plain)), code: "packed", says: "twice"},
		{name: "gzip of nothing", file: gz(""), code: "empty", says: "The file is empty"},
		{name: "gzip of a spreadsheet", file: gz("PK\x03\x04rest"), code: "spreadsheet", says: "save it as CSV UTF-8"},
	}
}

func (o odd) wantHead() string {
	if o.head == "" {
		return "UTF-8 ,"
	}
	return o.head
}

func headLine(h devicelist.Head) string {
	line := h.Encoding + " " + strings.ReplaceAll(string(h.Delimiter), "\t", "tab")
	if h.Gzip {
		line += " gz"
	}
	return line
}

func TestCorpus(t *testing.T) {
	files := append(corpus(), corpusOdd()...)
	if len(files) < 40 {
		t.Fatalf("only %d files", len(files))
	}
	for _, o := range files {
		t.Run(o.name, func(t *testing.T) {
			head, good, bad, fault := read(t, strings.NewReader(o.file))
			if head.Columns != nil && headLine(head) != o.wantHead() {
				t.Errorf("taken for %s, want %s", headLine(head), o.wantHead())
			}
			if diff := cmp.Diff(o.rows, good); diff != "" {
				t.Errorf("good rows: %s", diff)
			}
			if diff := cmp.Diff(o.bad, bad); diff != "" {
				t.Errorf("problems: %s", diff)
			}
			checkFault(t, o, fault)
			if _, again, _, _ := read(t, iotestOneByte(o.file)); !cmp.Equal(again, good) {
				t.Errorf("read byte by byte: %q", again)
			}
		})
	}
}

func checkFault(t *testing.T, o odd, fault *devicelist.FormatError) {
	t.Helper()
	switch {
	case fault == nil && o.code == "":
	case fault == nil:
		t.Errorf("no fault, want %s", o.code)
	case fault.Code != o.code || fault.Row != o.row || o.says == "" || !strings.Contains(fault.Message, o.says):
		t.Errorf("fault %s, row %d, %q; want %s, row %d, …%s…", fault.Code, fault.Row, fault.Message, o.code, o.row, o.says)
	}
}
