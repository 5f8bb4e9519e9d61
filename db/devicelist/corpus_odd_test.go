package devicelist_test

import (
	"io"
	"strings"
	"testing/iotest"

	"bongsu/db/devicelist"
)

func iotestOneByte(file string) io.Reader { return iotest.OneByteReader(strings.NewReader(file)) }

// corpusOdd has what is no list, and lists with quotes, characters and cells
// that ask for care.
func corpusOdd() []odd {
	return append(append(append(notLists(), shapes()...), cells()...), vendors()...)
}

func notLists() []odd {
	return []odd{
		{name: "nothing", file: "", code: "empty", says: "The file is empty. The first row must name the columns"},
		{name: "a mark alone", file: bom, code: "empty", says: "The file is empty"},
		{name: "blank rows alone", file: "\r\n \r\n\n", code: "empty", says: "The file is empty"},
		{name: "a renamed .xlsx", file: "PK\x03\x04\x14\x00\x06\x00", code: "spreadsheet", says: "save it as CSV UTF-8, and upload that file"},
		{name: "an empty zip", file: "PK\x05\x06", code: "spreadsheet", says: "zip archive"},
		{name: "an old .xls", file: "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", code: "spreadsheet", says: "old Excel file"},
		{name: "PDF", file: "%PDF-1.7\n%\xE2\xE3\xCF\xD3\n", code: "pdf", says: "This is a PDF"},
		{name: "a web page", file: "\n<!DOCTYPE html><html><body>Sign in</body></html>", code: "html", says: "web page"},
		{name: "JSON", file: `[{"token":"a-1","platform":"web"}]`, code: "json", says: "PUT /api/v1/devices"},
		{name: "JSON lines with a mark", file: bom + `{"token":"a-1","platform":"web"}`, code: "json", says: "JSON"},
		{name: "Parquet", file: "PAR1\x15\x04\x15", code: "parquet", says: "Parquet"},
		{name: "bzip2", file: "BZh91AY&SY", code: "packed", says: "gzip"},
		{name: "zstd", file: "\x28\xB5\x2F\xFD\x04\x00", code: "packed", says: "gzip"},
		{name: "rich text", file: `{\rtf1\ansi token,platform}`, code: "rtf", says: "rich text"},
		{name: "zero bytes", file: strings.Repeat("\x00", 4096), code: "not_text", row: 1, says: "zero bytes"},
		{name: "no header", file: "a-1,web\na-2,ios\n", code: "no_header", row: 1, says: "a device already"},
		{name: "no header, one long token", file: strings.Repeat("f", 64) + "\n", code: "no_header", row: 1, says: "a device already"},
		{name: "a header in other words", file: "Gerät;Plattform\na-1;web\n", code: "no_header", row: 1, says: `the names "gerät", "plattform"`},
		{name: "only tokens", file: "token\na-1\n", code: "missing_column", row: 1, says: `the column platform is missing. There is the one name "token"`},
		{name: "no token", file: "device,platform\na-1,web\n", code: "missing_column", row: 1, says: `the column token is missing. There are the names "device", "platform"`},
		{name: "a doubled name", file: "token,platform,user, Token\na-1,web,x,a-2\n", code: "doubled_column", row: 1, says: "the column token is there twice, as the columns A and D"},
		{name: "a header that never ends", file: "token,platform," + strings.Repeat("x", devicelist.MaxCell), code: "long_header", row: 1, says: "does not end within 64 KiB"},
		{name: "a header whose quote is never closed", file: "token,\"platform\n" + strings.Repeat("a-1,web\n", 20_000), code: "quote_not_closed", row: 1, says: "opens in column B is not closed within 64 KiB"},
		{name: "a header of too many names", file: "token,platform" + strings.Repeat(",x", devicelist.MaxColumns), code: "wide_row", row: 1, says: "more than 1000 cells"},
	}
}

func shapes() []odd {
	return []odd{
		{name: "only a header", file: "token,platform\n"},
		{name: "only a header without a line end", file: "token,platform"},
		{name: "one row without a line end", file: "token,platform\na-1,web", rows: []string{"2 a-1 web - - - -"}},
		{name: "CR LF", file: strings.ReplaceAll(plain, "\n", "\r\n"), rows: plainRows},
		{name: "CR alone", file: strings.ReplaceAll(plain, "\n", "\r"), rows: plainRows},
		{name: "mixed line ends", file: "token,platform\r\na-1,web\ra-2,web\na-3,web\r\r\na-4,web", rows: []string{"2 a-1 web - - - -", "3 a-2 web - - - -", "4 a-3 web - - - -", "6 a-4 web - - - -"}},
		{name: "blank rows", file: "\n\ntoken,platform\n\n , \na-1,web\n\"\",\n\na-2,ios\n\n", rows: []string{"6 a-1 web - - - -", "9 a-2 ios - - - -"}},
		{name: "any order, any case, spaces", file: " CONSENT ,\u00a0Platform,\"TOKEN\"\nno,WEB,a-1\n", rows: []string{"2 a-1 web - - no -"}},
		{name: "further columns twice", file: "note,token,note,platform\nx,a-1,y,web\n", rows: []string{"2 a-1 web - - - -"}},
		{name: "too few cells", file: "token,platform,user,tags,consent,installation\na-1,web\n", rows: []string{`2 a-1 web "" [] - -`}},
		{name: "too many cells", file: "token,platform,user\na-1,web,Meier, Jan\na-2,web,Ana\na-3,web,Bo,\n", rows: []string{"3 a-2 web Ana - - -"}, bad: []string{"2  too_many_cells", "4  too_many_cells"}},
		{name: "line breaks in quotes", file: "token,platform,note\na-1,web,\"one\r\ntwo\nthree\"\na-2,web,x\n", rows: []string{"2 a-1 web - - - -", "3 a-2 web - - - -"}},
		{name: "the header again", file: plain + bom + plain, rows: append(plainRows[:2:2], "5 a-1 web - - - -", "6 a-2 ios - - - -"), bad: []string{"4  header_again"}},
		{name: "a row of too many cells", file: plain + strings.Repeat(",", devicelist.MaxColumns) + "\n", rows: plainRows, code: "wide_row", row: 4, says: "Row 4: it has more than 1000 cells"},
		{name: "a row that is too long", file: "token,platform\na-1,web\n" + strings.Repeat(strings.Repeat("x", 60_000)+",", 20) + "\n", rows: []string{"2 a-1 web - - - -"}, code: "long_row", row: 3, says: "longer than 1024 KiB"},
		{name: "a cell as long as it may be", file: "token,platform,note\na-1,web," + strings.Repeat("x", devicelist.MaxCell) + "\n", rows: []string{"2 a-1 web - - - -"}},
		{name: "a cell that is too long", file: "token,platform,note\na-1,web," + strings.Repeat("x", devicelist.MaxCell+1) + "\n", code: "long_cell", row: 2, says: "the cell in column C is longer than 64 KiB"},
		{name: "a quote that is never closed", file: plain + "\"a-3,web\na-4,ios\n", rows: plainRows, code: "quote_not_closed", row: 4, says: "Row 4: the quote that opens in column A is not closed by the end of the file"},
		{name: "a quote that is not closed for long", file: plain + "a-3,\"web\n" + strings.Repeat("a-4,ios\n", 20_000), rows: plainRows, code: "quote_not_closed", row: 4, says: "opens in column B is not closed within 64 KiB"},
		{name: "quotes, commas and quotes in quotes", file: "token,platform,user\n\"a\"\"1\",web,\"x,\"\"y\"\"\"\n", rows: []string{`2 a"1 web x,"y" - - -`}},
		{name: "text after a closing quote", file: "token,platform,user\n\"a-1\"x,web,y\n\"a-2\" ,web,y\na-3,web,\"z\"\n", rows: []string{"4 a-3 web z - - -"}, bad: []string{"2 token bad_quotes", "3 token bad_quotes"}},
		{name: "a space before a quote", file: "token,platform,user\n \"a-1\",web,x\na-2,web, \"Ana, B\"\n", bad: []string{"2 token bad_quotes", "3  too_many_cells"}},
	}
}

func cells() []odd {
	return []odd{
		{name: "spaces around tokens", file: "token,platform\n  a-1\t, Web \n\u00a0a-2\u3000,IOS\n", rows: []string{"2 a-1 web - - - -", "3 a-2 ios - - - -"}},
		{name: "a zero byte in a token", file: "token,platform\na\x00b,web\na-2,web\n", rows: []string{"3 a-2 web - - - -"}, bad: []string{"2 token zero_byte"}},
		{name: "a zero byte in a further column", file: "token,platform,note\na-1,web,\x00\n", bad: []string{"2  zero_byte"}},
		{name: "control characters", file: "token,platform,user,note\na\x07b,web,x,y\na-2,web,x\x1by,z\na-3,web,\"x\ny\",z\na-4,web,x,\x07\na-5,web,\u0085x\u0085y,z\n", rows: []string{"5 a-4 web x - - -"}, bad: []string{"2 token control_character", "3 user control_character", "4 user control_character", "6 user control_character"}},
		{name: "formulas that were made safe", file: "token,platform,user,installation\n'-a,web,'=1+1,'@x\n''-b,web,'x,''''+y\n", rows: []string{"2 -a web =1+1 - - @x", "3 '-b web 'x - - '''+y"}},
		{name: "formulas as they are", file: "token,platform,user\n-a,web,=HYPERLINK(\"\"x\"\")\n+b,web,@c\n", rows: []string{"3 +b web @c - - -"}, bad: []string{"2 user bad_quotes"}},
		{name: "right to left", file: "token,platform,user,tags\na-1,web," + rtl + "," + rtl + "|x\n", rows: []string{"2 a-1 web " + rtl + " [" + rtl + "|x] - -"}},
		{name: "decomposed letters", file: "token,platform,user\na-1,web," + nfd + "\na-2,web," + nfc + "\n", rows: []string{"2 a-1 web " + nfd + " - - -", "3 a-2 web " + nfc + " - - -"}},
		{name: "tags", file: "token,platform,tags\na-1,web, a | b c |a||\na-2,web,\" \"\na-3,web,|\n", rows: []string{"2 a-1 web - [a|b c|a] - -", "3 a-2 web - [] - -", "4 a-3 web - [] - -"}},
		{name: "words of consent", file: "token,platform,consent\n" + consentRows(), rows: []string{"2 a web - - yes -", "3 a web - - yes -", "4 a web - - yes -", "5 a web - - yes -", "6 a web - - no -", "7 a web - - no -", "8 a web - - no -", "9 a web - - no -", "10 a web - - - -"}, bad: []string{"11 consent bad_consent", "12 consent bad_consent"}},
		{name: "an empty installation", file: "token,platform,user,installation\na-1,web,,\na-2,web, ,  \n", rows: []string{`2 a-1 web "" - - -`, `3 a-2 web "" - - -`}},
		{name: "two problems in one row", file: "token,platform,consent\na\x01b,web,perhaps\n", bad: []string{"2 token control_character", "2 consent bad_consent"}},
		{name: "an unknown platform is the ledger's matter", file: "token,platform\n,Fax\n", rows: []string{`2 "" fax - - - -`}},
	}
}

func consentRows() string {
	var b strings.Builder
	for _, w := range []string{"true", "YES", "1", " y ", "False", "no", "0", "N", "", "maybe", "2"} {
		b.WriteString("a,web," + w + "\n")
	}
	return b.String()
}

// vendors has lists whose addresses are at several vendors.
func vendors() []odd {
	return []odd{
		{name: "several vendors", file: "token,platform,vendor,environment,p256dh,auth\na-1,web,http,,,\na-2,ios,APNs,Sandbox,,\na-3,android,fcm,,,\nhttps://p.example/1,web,webpush,,BKey=,Sec+/=\na-5,web,,,,\n",
			rows: []string{"2 a-1 web - - - - at http - - -", "3 a-2 ios - - - - at apns sandbox - -", "4 a-3 android - - - - at fcm - - -",
				"5 https://p.example/1 web - - - - at webpush - BKey= Sec+/=", "6 a-5 web - - - -"}},
		{name: "keys that begin with a dash", file: "token,platform,vendor,p256dh,auth\na-1,web,webpush,'-Key,'-Sec\n", rows: []string{"2 a-1 web - - - - at webpush - -Key -Sec"}},
		{name: "an endpoint with a semicolon and a comma", file: "token;platform;vendor\n\"https://p.example/a;b,c\";web;webpush\n", head: "UTF-8 ;", rows: []string{"2 https://p.example/a;b,c web - - - - at webpush - - -"}},
		{name: "a vendor column alone of the new ones", file: "token,vendor,platform\na-1,FCM,ios\n", rows: []string{"2 a-1 ios - - - - at fcm - - -"}},
		{name: "a doubled new column", file: "token,platform,auth,AUTH\na-1,web,x,y\n", code: "doubled_column", row: 1, says: "the column auth is there twice"},
		{name: "a line break in a key", file: "token,platform,auth\na-1,web,\"se\ncret\"\n", bad: []string{"2 auth control_character"}},
	}
}
