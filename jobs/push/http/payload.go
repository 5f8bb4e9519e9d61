package pushhttp

import (
	"strconv"
	"time"
	"unicode/utf8"

	"bongsu/jobs/push"
)

// encode writes the message as the vendor reads it. It is by hand because it is
// done for every call: encoding/json takes several times as long.
func encode(m *push.Message) []byte {
	b := make([]byte, 0, 256+len(m.Token)+(len(m.Title)+len(m.Body)+len(m.Link))*9/8)
	b = strconv.AppendInt(append(b, `{"notice_id":`...), m.NoticeID, 10)
	b = strconv.AppendInt(append(b, `,"device_id":`...), m.DeviceID, 10)
	b = appendString(append(b, `,"token":`...), m.Token)
	b = appendString(append(b, `,"platform":`...), m.Platform)
	b = appendString(append(b, `,"title":`...), m.Title)
	b = appendString(append(b, `,"body":`...), m.Body)
	if m.Link != "" {
		b = appendString(append(b, `,"link":`...), m.Link)
	}
	if !m.ExpiresAt.IsZero() {
		b = m.ExpiresAt.UTC().AppendFormat(append(b, `,"expires_at":"`...), time.RFC3339)
		b = append(b, '"')
	}
	b = appendString(append(b, `,"collapse_id":`...), m.CollapseID)
	return append(b, '}')
}

// appendString writes s as a JSON string. What is not UTF-8 becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		size := 1
		if c >= utf8.RuneSelf {
			var r rune
			if r, size = utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
		}
		b = append(b, s[from:i]...)
		b = appendEscaped(b, c)
		i += size
		from = i
	}
	return append(append(b, s[from:]...), '"')
}

func appendEscaped(b []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch {
	case c == '"' || c == '\\':
		return append(b, '\\', c)
	case c == '\n':
		return append(b, '\\', 'n')
	case c < ' ':
		return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
	}
	return append(b, `\ufffd`...)
}
