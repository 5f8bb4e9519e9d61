package devicelist

import (
	"fmt"
	"strings"
)

// What to do about a file that no list can be read from.
const (
	saveAsCSV = "Open it in the program that made it, save it as CSV UTF-8, and upload that file."
	example   = "The first row must name the columns, such as token,platform,user."
)

func fileError(code, format string, args ...any) error {
	return &FormatError{Code: code, Message: fmt.Sprintf(format, args...)}
}

func rowError(row int64, code, format string, args ...any) error {
	return &FormatError{Code: code, Row: row, Message: fmt.Sprintf("Row %d: ", row) + fmt.Sprintf(format, args...)}
}

func errEmpty() error {
	return fileError("empty", "The file is empty. %s Each further row is a device.", example)
}

func errZip() error {
	return fileError("spreadsheet", "This is a spreadsheet such as .xlsx, or a zip archive, whatever its name ends in. %s", saveAsCSV)
}

func errOldExcel() error {
	return fileError("spreadsheet", "This is an old Excel file (.xls), whatever its name ends in. %s", saveAsCSV)
}

func errPDF() error { return fileError("pdf", "This is a PDF. %s", saveAsCSV) }

func errRTF() error { return fileError("rtf", "This is a rich text document. %s", saveAsCSV) }

func errParquet() error {
	return fileError("parquet", "This is a Parquet file. Export the table as CSV and upload that file.")
}

func errHTML() error {
	return fileError("html", "This is a web page or XML and no CSV. Perhaps a download gave an error or a sign-in page: open the file and look. %s", saveAsCSV)
}

func errJSON() error {
	return fileError("json", "This is JSON and no CSV. Save it as CSV, or send it to PUT /api/v1/devices.")
}

func errPacked() error {
	return fileError("packed", "The file is packed in a way that is not read. Unpack it, or pack it with gzip.")
}

func errTwiceZipped() error {
	return fileError("packed", "The file is packed with gzip twice. Unpack it once.")
}

func errUTF32() error {
	return fileError("bad_encoding", "The file is UTF-32, which is not read. Save it as CSV UTF-8.")
}

func errBinary(row int64) error {
	return rowError(row, "not_text", "there are zero bytes where the header should be, so this is no CSV. %s", saveAsCSV)
}

func errNoHeader(row int64, names []string) error {
	if looksLikeData(names) {
		return rowError(row, "no_header", "this is a device already and not the header. %s Put such a row on top.", example)
	}
	return rowError(row, "no_header", "there %s, and none of the columns that are read. %s", listed(names), example)
}

func errMissingColumn(row int64, column string, names []string) error {
	return rowError(row, "missing_column", "the column %s is missing. There %s. Add it, or give the column that holds it this name.", column, listed(names))
}

func errDoubledColumn(row int64, column string, at []int) error {
	return rowError(row, "doubled_column", "the column %s is there twice, as the columns %s and %s. Take one away or rename it.", column, letters(at[0]), letters(at[1]))
}

func errLongHeader(row int64) error {
	return rowError(row, "long_header", "the header does not end within %d KiB. Check the line ends and the quotes of the first row.", MaxCell>>10)
}

func errUnclosed(row int64, cell int) error {
	return rowError(row, "quote_not_closed", "the quote that opens in column %s is not closed by the end of the file, so nothing after it can be told apart. Close it, or write a quote that belongs to the text twice.", letters(cell))
}

func errUnclosedLong(row int64, cell int) error {
	return rowError(row, "quote_not_closed", "the quote that opens in column %s is not closed within %d KiB. Close it, or write a quote that belongs to the text twice.", letters(cell), MaxCell>>10)
}

func errLongCell(row int64, cell int) error {
	return rowError(row, "long_cell", "the cell in column %s is longer than %d KiB. Check the line ends and the delimiters of this row.", letters(cell), MaxCell>>10)
}

func errLongRow(row int64) error {
	return rowError(row, "long_row", "it is longer than %d KiB. Check its line ends and quotes.", MaxRecord>>10)
}

func errWide(row int64) error {
	return rowError(row, "wide_row", "it has more than %d cells. Check its line ends and delimiters.", MaxColumns)
}

func errManyRows(row int64) error {
	return rowError(row, "too_many_rows", "the list goes on after %d devices. Cut it into several files.", MaxRows)
}

func errManyBlank(row int64) error {
	return rowError(row, "too_many_blank", "there have been more than %d blank rows. Take them out.", MaxRows)
}

func errBlankTop(row int64) error {
	return rowError(row, "no_header", "all rows up to here are blank. %s", example)
}

func errLarge(row int64) error {
	return &FormatError{Code: "too_large", Row: row, Message: fmt.Sprintf("The list is larger than %d MiB once it is unpacked; row %d was the last one looked at. Cut it into several files.", MaxBytes>>20, row)}
}

func errDamaged(row int64, err error) error {
	where := fmt.Sprintf("after row %d", row)
	if row == 0 {
		where = "before its first row"
	}
	return &FormatError{Code: "damaged_gzip", Row: row, Message: fmt.Sprintf("The gzip file is cut off or damaged %s (%v). Pack it again and upload that file.", where, err)}
}

func errEncoding(row int64, encoding string) error {
	return rowError(row, "bad_encoding", "it holds bytes that are not valid %s. Save the file as CSV UTF-8 and upload it again.", encoding)
}

func textTooMany(n, columns int, delim rune) string {
	return fmt.Sprintf("has %d cells, but the header names %d: put quotes around cells that hold %s", n, columns, delimiterWord(delim))
}

func textBroken(cell int) string {
	return fmt.Sprintf("goes on after the closing quote in column %s: write a quote that belongs to the text twice", letters(cell))
}

func textBare() string {
	return "holds a quote: put the whole cell in quotes and write the quote twice"
}

func textZero(cell int) string {
	return fmt.Sprintf("holds a zero byte in column %s: take it out", letters(cell))
}

func textControl() string { return "holds a line break or another control character: take it out" }

func textConsent() string { return "must be true or false (or yes, no, y, n, 1, 0), or empty" }

func textHeaderAgain() string { return "is the header again: take the row out" }

func delimiterWord(delim rune) string {
	switch delim {
	case ';':
		return "a semicolon"
	case '\t':
		return "a tab"
	default:
		return "a comma"
	}
}

// letters names a column as a spreadsheet does: A, B, … Z, AA.
func letters(i int) string {
	s := ""
	for i++; i > 0; i = (i - 1) / 26 {
		s = string(rune('A'+(i-1)%26)) + s
	}
	return s
}

// listed tells the names of a header, the first ones and shortened.
func listed(names []string) string {
	var told []string
	for _, n := range names {
		if n = columnName(n); n != "" && len(told) < 10 {
			told = append(told, fmt.Sprintf("%q", shorten(n, 40)))
		}
	}
	if len(told) == 0 {
		return "are no names"
	}
	if len(told) == 1 {
		return "is the one name " + told[0]
	}
	return "are the names " + strings.Join(told, ", ")
}
