package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"bongsu/db"
	"bongsu/views"
)

// noticeAsked is the notice of which a page says why it did not arrive. Its number
// may stand in an address: it tells of nobody.
type noticeAsked struct {
	id          int64 // 0: none is asked about
	text, wrong string
}

func askedNotice(r *http.Request) (n noticeAsked) {
	if n.text = strings.TrimPrefix(strings.TrimSpace(r.FormValue("notice")), "#"); n.text == "" {
		return n
	}
	id, err := strconv.ParseInt(n.text, 10, 64)
	if err != nil || id < 1 {
		n.wrong = views.Said().BadNotice
		return n
	}
	n.id = id
	return n
}

// values are what an address needs to ask the same again.
func (n noticeAsked) values() url.Values {
	if n.id == 0 {
		return url.Values{}
	}
	return url.Values{"notice": {idText(n.id)}}
}

// detail is what the log of acts keeps of it.
func (n noticeAsked) detail() map[string]any {
	if n.id == 0 {
		return map[string]any{}
	}
	return map[string]any{"notice": n.id}
}

// withQuery is a path with values and further pairs; what is empty is left out.
func withQuery(path string, values url.Values, pairs ...string) string {
	q := url.Values{}
	for k, v := range values {
		q[k] = v
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// whyLines says of each device why a notice did not reach it, or that it did.
func (s *Server) whyLines(r *http.Request, notice int64, devices []int64) ([]views.WhyLine, error) {
	list, err := s.pages.Why(r.Context(), notice, devices)
	if err != nil {
		return nil, err
	}
	lines := make([]views.WhyLine, len(list))
	for i, y := range list {
		lines[i] = whyLine(y)
	}
	return lines, nil
}

func whyLine(y db.Why) views.WhyLine {
	return views.WhyLine{
		Case: string(y.Case), NoticeID: idText(y.NoticeID), NoticeTitle: y.NoticeTitle, DeviceID: idText(y.DeviceID),
		AcceptedAt: stamp(y.AcceptedAt), At: stampOf(y.At), Since: stampOf(y.Since), Until: stampOf(y.Until),
		Reason: textOf(y.Reason), Code: textOf(y.Code), Message: textOf(y.Message), By: textOf(y.By),
		Platform: y.Platform, Platforms: strings.Join(y.Platforms, ", "), Tags: strings.Join(y.Tags, ", "),
	}
}
