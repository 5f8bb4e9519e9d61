package devicelist

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// Writer writes a list: UTF-8 with a byte order mark, commas, CR LF, so that a
// spreadsheet opens it as it is. A cell that a spreadsheet would take for a
// formula gets an apostrophe in front, which a Reader takes away again.
type Writer struct {
	w       *bufio.Writer
	columns int
}

// NewWriter begins a list with the header. Errors of w are told by Write and
// Flush.
func NewWriter(w io.Writer, columns []string) *Writer {
	lw := &Writer{w: bufio.NewWriterSize(w, inputBuffer), columns: len(columns)}
	_, _ = lw.w.WriteString(bomUTF8) // bufio keeps the error
	_ = lw.Write(columns)
	return lw
}

// Write adds a row. Cells that it lacks are written empty; those beyond the
// header are written as they are, and a Reader rejects such a row again.
func (w *Writer) Write(cells []string) error {
	for i := range max(len(cells), w.columns) {
		if i > 0 {
			_ = w.w.WriteByte(',')
		}
		if i < len(cells) {
			w.cell(cells[i])
		}
	}
	_, err := w.w.WriteString("\r\n")
	return err
}

func (w *Writer) cell(c string) {
	c = guard(c)
	if !needsQuotes(c) {
		_, _ = w.w.WriteString(c)
		return
	}
	_ = w.w.WriteByte('"')
	_, _ = w.w.WriteString(strings.ReplaceAll(c, `"`, `""`))
	_ = w.w.WriteByte('"')
}

// Flush hands on what is still held, and gives the first error of the writer.
func (w *Writer) Flush() error { return w.w.Flush() }

// Device is a device as an export writes it. What is nil is an empty cell.
type Device struct {
	Token, Platform           string
	User                      *string
	Tags                      []string
	Consent                   bool
	Installation              *string
	Vendor                    string
	Environment, P256dh, Auth *string
}

// Cells gives the device's cells in the order of Columns().
func (d Device) Cells() []string {
	return []string{d.Token, d.Platform, orEmpty(d.User), strings.Join(d.Tags, "|"), strconv.FormatBool(d.Consent), orEmpty(d.Installation),
		d.Vendor, orEmpty(d.Environment), orEmpty(d.P256dh), orEmpty(d.Auth)}
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// needsQuotes also says yes to semicolons and spaces at the ends, which careless
// programs cut at or cut off.
func needsQuotes(c string) bool {
	return strings.ContainsAny(c, "\",;\t\r\n") || strings.TrimSpace(c) != c
}

// guard puts an apostrophe before what a spreadsheet takes for a formula, and
// before what would look guarded, so that unguard gives exactly c again.
func guard(c string) string {
	if looksLikeFormula(strings.TrimLeft(c, "'")) {
		return "'" + c
	}
	return c
}

func unguard(c string) string {
	if len(c) > 1 && c[0] == '\'' && looksLikeFormula(strings.TrimLeft(c, "'")) {
		return c[1:]
	}
	return c
}

func looksLikeFormula(c string) bool {
	return c != "" && strings.IndexByte("=+-@\t\r\n", c[0]) >= 0
}
