package devicelist

import (
	"encoding/csv"
	"io"
	"strings"
)

// Writer writes a list that spreadsheets open as it is meant, and that a Reader
// gives back as it was: comma, UTF-8 with a byte order mark, LF, and an apostrophe
// before what a spreadsheet would take for a formula.
type Writer struct {
	out   *csv.Writer
	cells []string
}

// NewWriter writes the row that names the columns.
func NewWriter(w io.Writer, columns []string) *Writer {
	_, _ = io.WriteString(w, "\ufeff") // an error comes again with the next write
	x := &Writer{out: csv.NewWriter(w)}
	x.Write(columns)
	return x
}

// Write adds a row. Errors stay, and Flush gives the first.
func (x *Writer) Write(cells []string) {
	x.cells = x.cells[:0]
	for _, c := range cells {
		x.cells = append(x.cells, escape(c))
	}
	_ = x.out.Write(x.cells) // the error stays
}

// Flush hands on what was written, and gives the first error there was.
func (x *Writer) Flush() error {
	x.out.Flush()
	return x.out.Error()
}

// formula are the characters that make a spreadsheet take a cell for a formula.
const formula = "=+-@\t\r"

// escape puts an apostrophe before a cell that begins like a formula, or that
// begins like one that was escaped.
func escape(cell string) string {
	if likeFormula(cell) {
		return "'" + cell
	}
	return cell
}

// unescape takes the apostrophe off again.
func unescape(cell string) string {
	if strings.HasPrefix(cell, "'") && likeFormula(cell) {
		return cell[1:]
	}
	return cell
}

// likeFormula says whether a cell is a formula behind any number of apostrophes.
func likeFormula(cell string) bool {
	rest := strings.TrimLeft(cell, "'")
	return rest != "" && strings.IndexByte(formula, rest[0]) >= 0
}
