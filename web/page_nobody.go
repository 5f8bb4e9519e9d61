package web

import (
	"net/http"
	"strings"

	"bongsu/db"
	"bongsu/views"
)

// askNobody puts a question into m where nobody would be told of the notice as things
// are now, and says whether it must be answered first. It is answered by m.Nobody, which
// names the audience that was asked about: another one is asked about anew. A notice that
// is stored already has nothing left to ask. Where it cannot be known it asks nothing:
// the acceptance then says what is the matter.
func (s *Server) askNobody(r *http.Request, m *views.Compose, d db.Draft) bool {
	if s.checkDraft(r.Context(), &d) != nil {
		return false
	}
	about := audienceKey(d.Audience)
	if m.Nobody == about {
		return false
	}
	some, err := s.pages.HasAudience(r.Context(), d.Audience)
	if err != nil || some {
		return false
	}
	if there, err := s.pages.IsStored(r.Context(), d.Key()); err != nil || there {
		return false
	}
	m.AskNobody, m.Nobody = about, ""
	return true
}

// audienceKey names an audience in its normal form.
func audienceKey(a db.Audience) string {
	return strings.Join(a.Platforms, ",") + "|" + strings.Join(a.Tags, ",")
}

// addMissing adds the tags that no device has, each with those of the tags in use that
// it may have meant.
func (s *Server) addMissing(r *http.Request, m *views.Compose, tags []string) error {
	missing, err := s.pages.MissingTags(r.Context(), tags)
	if err != nil || len(missing) == 0 {
		return err
	}
	s.addInUse(r, m)
	for _, tag := range missing {
		m.Audience.Missing = append(m.Audience.Missing, views.MissingTag{Tag: tag, Near: near(tag, m.InUse)})
	}
	return nil
}

// addInUse adds the tags in use, once. They only help, so not to find them is no failure
// of the page.
func (s *Server) addInUse(r *http.Request, m *views.Compose) {
	if m.InUse != nil {
		return
	}
	var err error
	if m.InUse, err = s.pages.TagsInUse(r.Context()); err != nil {
		s.log.WarnContext(r.Context(), "the tags in use were not read", "error", err, "request_id", requestIDOf(r))
	}
}
