package web

import (
	"context"
	"errors"
	"net/http"

	"bongsu/db"
)

// identifyWhereKnown is identifyPerson for what has to answer while the database
// is away. It waits for the database no longer than one look takes; where that
// fails, nobody is known and r's state says why.
func (s *Server) identifyWhereKnown(rt *route, r *http.Request) (*http.Request, error) {
	ctx, cancel := context.WithTimeout(r.Context(), s.limits.Look)
	defer cancel()
	known, err := s.identifyPerson(rt, r.WithContext(ctx))
	if err == nil || errors.Is(err, errSignedOut) || db.CauseOf(err) == db.NoCause {
		return known.WithContext(carried{r.Context(), known.Context()}), err
	}
	s.watch.noted(err)
	stateOf(r.Context()).away = true
	return r, nil
}

// carried has the end of one context and the values of another.
type carried struct {
	context.Context
	values context.Context
}

func (c carried) Value(key any) any { return c.values.Value(key) }
