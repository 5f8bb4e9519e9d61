package devicelist

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf16"
)

// want is what a list comes to: its rows as token/platform/user/tags/consent/
// installation, the rows with problems as number:column:reason, and how it ends.
type want struct {
	rows     []string
	problems []string
	err      string // code of the FormatError; "" for none
	at       int64  // its row
	says     string // a part of its message
	head     string // encoding, delimiter, further columns
}

func packed(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return b.String()
}

// damaged turns the checksum at the end over.
func damaged(s string) string {
	raw := []byte(s)
	raw[len(raw)-6] ^= 0xff
	return string(raw)
}

func inUTF16(s string, order binary.ByteOrder, mark bool) string {
	units := utf16.Encode([]rune(s))
	if mark {
		units = append([]uint16{0xfeff}, units...)
	}
	raw := make([]byte, 2*len(units))
	for i, u := range units {
		order.PutUint16(raw[2*i:], u)
	}
	return string(raw)
}

// shape writes a row for comparison: nil fields as ~.
func shape(r Row) string {
	text := func(s *string) string {
		if s == nil {
			return "~"
		}
		return *s
	}
	tags, consent := "~", "~"
	if r.Tags != nil {
		tags = strings.Join(*r.Tags, "+")
	}
	if r.Consent != nil {
		consent = fmt.Sprint(*r.Consent)
	}
	return fmt.Sprintf("%d %s/%s/%s/%s/%s/%s", r.Number, r.Token, r.Platform, text(r.User), tags, consent, text(r.Installation))
}

const full = "token,platform,user,tags,consent,installation\n"

var corpus = map[string]struct {
	file string
	want want
}{
	"plain":               {"token,platform\na,ios\nb,web\n", want{rows: []string{"2 a/ios/~/~/~/~", "3 b/web/~/~/~/~"}, head: "UTF-8 ,"}},
	"all columns":         {full + "a,ios,kim,vip|gold,true,i1\n", want{rows: []string{"2 a/ios/kim/vip+gold/true/i1"}}},
	"any order and case":  {"User, PLATFORM ,Token\nkim,IOS,a\n", want{rows: []string{"2 a/ios/kim/~/~/~"}}},
	"further columns":     {"token,name,platform,note\na,Kim,ios,x\n", want{rows: []string{"2 a/ios/~/~/~/~"}, head: "UTF-8 , name note"}},
	"unnamed column":      {"token,,platform\na,x,ios\n", want{rows: []string{"2 a/ios/~/~/~/~"}, head: "UTF-8 ,"}},
	"semicolon":           {"token;platform;tags\na;ios;x|y,z\n", want{rows: []string{"2 a/ios/~/x+y,z/~/~"}, head: "UTF-8 ;"}},
	"tab":                 {"token\tplatform\na\tios\n", want{rows: []string{"2 a/ios/~/~/~/~"}, head: "UTF-8 \t"}},
	"sep line of Excel":   {"sep=;\r\ntoken;platform\r\na;ios\r\n", want{rows: []string{"3 a/ios/~/~/~/~"}, head: "UTF-8 ;"}},
	"delimiter in quotes": {"\"token\",\"platform\",\"a;b;c;d\"\na,ios,x\n", want{rows: []string{"2 a/ios/~/~/~/~"}, head: "UTF-8 , a;b;c;d"}},
	"CR LF":               {"token,platform\r\na,ios\r\nb,web\r\n", want{rows: []string{"2 a/ios/~/~/~/~", "3 b/web/~/~/~/~"}}},
	"CR alone":            {"token,platform\ra,ios\rb,web", want{rows: []string{"2 a/ios/~/~/~/~", "3 b/web/~/~/~/~"}}},
	"mixed line ends":     {"token,platform\na,ios\r\nb,web\rc,web\n\rd,ios", want{rows: []string{"2 a/ios/~/~/~/~", "3 b/web/~/~/~/~", "4 c/web/~/~/~/~", "6 d/ios/~/~/~/~"}}},
	"no last newline":     {"token,platform\na,ios", want{rows: []string{"2 a/ios/~/~/~/~"}}},
	"header only":         {"token,platform\n", want{}},
	"header, no newline":  {"token,platform", want{}},
	"blank rows":          {"\n\ntoken,platform\n\na,ios\n,,\n;\nb,web\n", want{rows: []string{"5 a/ios/~/~/~/~", "7 ;//~/~/~/~", "8 b/web/~/~/~/~"}}},
	"BOM":                 {"\ufefftoken,platform\na,ios\n", want{rows: []string{"2 a/ios/~/~/~/~"}}},
	"Excel CSV UTF-8":     {"\ufefftoken;platform;user\r\na;ios;김\r\n", want{rows: []string{"2 a/ios/김/~/~/~"}, head: "UTF-8 ;"}},
	"Excel Unicode text":  {inUTF16("token\tplatform\tuser\r\na\tios\t김\r\n", binary.LittleEndian, true), want{rows: []string{"2 a/ios/김/~/~/~"}, head: "UTF-16LE \t"}},
	"UTF-16BE":            {inUTF16("token,platform\na,ios\n", binary.BigEndian, true), want{rows: []string{"2 a/ios/~/~/~/~"}, head: "UTF-16BE ,"}},
	"UTF-16LE, no BOM":    {inUTF16("token,platform\na,ios\n", binary.LittleEndian, false), want{rows: []string{"2 a/ios/~/~/~/~"}, head: "UTF-16LE ,"}},
	"UTF-16BE, no BOM":    {inUTF16("token,platform\na,ios\n", binary.BigEndian, false), want{rows: []string{"2 a/ios/~/~/~/~"}, head: "UTF-16BE ,"}},
	"LibreOffice":         {"\"token\",\"platform\",\"user\"\n\"a\",\"ios\",\"kim \"\"the one\"\"\"\n", want{rows: []string{"2 a/ios/kim \"the one\"/~/~/~"}}},
	"Google Sheets":       {"token,platform,consent\r\na,ios,TRUE\r\nb,web,FALSE", want{rows: []string{"2 a/ios/~/~/true/~", "3 b/web/~/~/false/~"}}},
	"Numbers":             {"token;platform;consent\r\na;ios;yes\r\nb;web;\r\n", want{rows: []string{"2 a/ios/~/~/true/~", "3 b/web/~/~/~/~"}}},
	"quoted line breaks":  {"token,platform,user\na,ios,\"kim\r\nlee\"\nb,web,x\n", want{rows: []string{"2 a/ios/kim\r\nlee/~/~/~", "3 b/web/x/~/~/~"}}},
	"quote within a cell": {"token,platform,user\na,ios,5\" wide\n", want{rows: []string{"2 a/ios/5\" wide/~/~/~"}}},
	"empty quotes":        {"token,platform,user\na,ios,\"\"\n", want{rows: []string{"2 a/ios//~/~/~"}}},
	"text behind a quote": {"token,platform,user\na,ios,\"kim\" x\nb,web,y\n", want{rows: []string{"2 a/ios/kim x/~/~/~", "3 b/web/y/~/~/~"}, problems: []string{"2::bad_quotes"}}},
	"open quote":          {"token,platform\na,ios\nb,\"web\nc,ios\n", want{rows: []string{"2 a/ios/~/~/~/~"}, err: "open_quote", at: 3, says: "row 3 opens a quote"}},
	"quote open for long": {"token,platform\n\"" + strings.Repeat("x", MaxRecord+10), want{err: "open_quote", at: 2, says: "not closed within 1024 KiB"}},
	"endless row":         {"token,platform\n" + strings.Repeat("x", MaxRecord+10), want{err: "row_too_long", at: 2, says: "line ends are missing"}},
	"huge cell":           {"token,platform,user\na,ios," + strings.Repeat("x", MaxCell+1) + "\nb,web,y\n", want{rows: []string{"2 a/ios//~/~/~", "3 b/web/y/~/~/~"}, problems: []string{"2:user:cell_too_long"}}},
	"NUL":                 {"token,platform\na\x00b,ios\n", want{rows: []string{"2 a\x00b/ios/~/~/~/~"}, problems: []string{"2:token:control_character"}}},
	"escape character":    {"token,platform,user\na,ios,\x1b[31m\n", want{rows: []string{"2 a/ios/\x1b[31m/~/~/~"}, problems: []string{"2:user:control_character"}}},
	"NUL elsewhere":       {"token,platform,note\na,ios,\x00\n", want{rows: []string{"2 a/ios/~/~/~/~"}}},
	"Latin-1":             {"token,platform,user\na,ios,J\xfcrgen\nb,web,x\n", want{rows: []string{"2 a/ios//~/~/~", "3 b/web/x/~/~/~"}, problems: []string{"2:user:not_utf8"}}},
	"Latin-1 header":      {"token,platform,gr\xfc\xdfe\n", want{err: "not_utf8", at: 1}},
	"right to left":       {"token,platform,user,tags\na,ios,דנה כהן,שלום|سلام\n", want{rows: []string{"2 a/ios/דנה כהן/שלום+سلام/~/~"}}},
	"NFD":                 {"token,platform,user\na,ios,\u1100\u1161\n", want{rows: []string{"2 a/ios/\u1100\u1161/~/~/~"}}},
	"spaces":              {"token,platform,tags\n  a\t, iOS , vip | gold ||\n", want{rows: []string{"2 a/ios/~/vip+gold/~/~"}}},
	"formula cells":       {"token,platform,user\n'=1+1,ios,'@kim\n''-x,web,'kim\n", want{rows: []string{"2 =1+1/ios/@kim/~/~/~", "3 '-x/web/'kim/~/~/~"}}},
	"too few cells":       {full + "a,ios\n", want{rows: []string{"2 a/ios///~/~"}}},
	"too many cells":      {"token,platform\na,ios,x\nb,web,,\n", want{rows: []string{"2 a/ios/~/~/~/~", "3 b/web/~/~/~/~"}, problems: []string{"2::too_many_cells"}}},
	"consent words":       {"token,platform,consent\na,ios,Yes\nb,ios,N\nc,ios,1\nd,ios,0\ne,ios,maybe\n", want{rows: []string{"2 a/ios/~/~/true/~", "3 b/ios/~/~/false/~", "4 c/ios/~/~/true/~", "5 d/ios/~/~/false/~", "6 e/ios/~/~/~/~"}, problems: []string{"6:consent:bad_consent"}}},
	"missing token":       {"token,platform\n,ios\n", want{rows: []string{"2 /ios/~/~/~/~"}}},
	"gzip":                {packed("token;platform\na;ios\n"), want{rows: []string{"2 a/ios/~/~/~/~"}, head: "UTF-8 ;"}},
	"gzip of UTF-16":      {packed(inUTF16("token,platform\na,ios\n", binary.LittleEndian, true)), want{rows: []string{"2 a/ios/~/~/~/~"}, head: "UTF-16LE ,"}},
	"gzip cut":            {packed("token,platform\n" + strings.Repeat("a,ios\n", 50))[:40], want{err: "gzip_cut", says: "cut on the way"}},
	"gzip damaged":        {damaged(packed("token,platform\na,ios\n")), want{err: "gzip_damaged"}},
	"gzip of a workbook":  {packed("PK\x03\x04rest"), want{err: "not_csv", says: ".xlsx"}},
	"empty":               {"", want{err: "empty", says: "names the columns"}},
	"blank lines only":    {"\r\n\r\n  \n", want{err: "empty"}},
	"delimiters only":     {",,,\n,,,\n", want{err: "empty"}},
	"xlsx":                {"PK\x03\x04\x14\x00\x06\x00", want{err: "not_csv", says: "CSV UTF-8"}},
	"xls":                 {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", want{err: "not_csv", says: ".xls"}},
	"PDF":                 {"%PDF-1.7\n", want{err: "not_csv", says: "PDF"}},
	"HTML":                {"<!DOCTYPE html><html>", want{err: "not_csv", says: "web page"}},
	"JSON":                {"\n[{\"token\":\"a\"}]", want{err: "not_csv", says: "PUT /api/v1/devices"}},
	"Parquet":             {"PAR1\x15\x04", want{err: "not_csv", says: "Parquet"}},
	"zstd":                {"\x28\xb5\x2f\xfd\x04", want{err: "not_csv", says: "gzip"}},
	"no header":           {"abc123,ios\ndef456,web\n", want{err: "no_header", at: 1, says: "“abc123”, “ios”"}},
	"no platform":         {"token,user\na,kim\n", want{err: "column_missing", at: 1, says: "no column platform; it names “token”, “user”"}},
	"token twice":         {"token,platform,Token\n", want{err: "column_twice", at: 1, says: "token twice"}},
}

func TestCorpus(t *testing.T) {
	if len(corpus) < 40 {
		t.Errorf("the corpus has %d files", len(corpus))
	}
	for name, c := range corpus {
		t.Run(name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(c.file), &dribble{c.file}} {
				checkFile(t, r, c.want)
			}
		})
	}
}

// dribble gives one byte at a time.
type dribble struct{ rest string }

func (d *dribble) Read(p []byte) (int, error) {
	if d.rest == "" {
		return 0, io.EOF
	}
	p[0] = d.rest[0]
	d.rest = d.rest[1:]
	return 1, nil
}

func checkFile(t *testing.T, in io.Reader, w want) {
	t.Helper()
	var rows, problems []string
	x, err := NewReader(in)
	for err == nil {
		var r Row
		if r, err = x.Next(); err == nil {
			rows = append(rows, shape(r))
			for _, p := range r.Problems {
				problems = append(problems, fmt.Sprintf("%d:%s:%s", r.Number, p.Column, p.Reason))
			}
		}
	}
	if fmt.Sprint(rows) != fmt.Sprint(w.rows) {
		t.Errorf("rows\n%q, want\n%q", rows, w.rows)
	}
	if fmt.Sprint(problems) != fmt.Sprint(w.problems) {
		t.Errorf("problems %v, want %v", problems, w.problems)
	}
	var format *FormatError
	switch {
	case w.err == "" && !errors.Is(err, io.EOF):
		t.Errorf("it ended with %v", err)
	case w.err != "" && (!errors.As(err, &format) || format.Code != w.err || format.Row != w.at || !strings.Contains(format.Message, w.says)):
		t.Errorf("it ended with %#v, want %s at %d", err, w.err, w.at)
	}
	if w.head != "" {
		h := x.Head()
		got := strings.TrimRight(fmt.Sprintf("%s %c %s", h.Encoding, h.Delimiter, strings.Join(h.Ignored, " ")), " ")
		if got != w.head {
			t.Errorf("head %q, want %q", got, w.head)
		}
	}
}
