package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"

	"bongsu/db"
)

// checkDraft puts d into its normal form and holds it against our limits and those of
// the vendors that its audience has devices at. It is an *db.InvalidError where a field
// is wrong.
func (s *Server) checkDraft(ctx context.Context, d *db.Draft) error {
	var fields []db.FieldError
	var invalid *db.InvalidError
	if err := db.CheckDraft(d); errors.As(err, &invalid) {
		fields = invalid.Fields
	} else if err != nil {
		return err
	}
	if fields == nil && s.payload != nil {
		var err error
		if fields, err = s.tooLarge(ctx, s.payload(d.Title, d.Body, d.Link), d.Audience); err != nil {
			return err
		}
	}
	if fields != nil {
		return &db.InvalidError{Fields: fields}
	}
	return nil
}

// PayloadFault says that a text is too large for a vendor.
type PayloadFault struct {
	Kind string // the vendor
	db.FieldError
}

// tooLarge keeps of faults those of vendors that an audience has devices at, or all
// where it has none yet. It asks the ledger only where there is a fault.
func (s *Server) tooLarge(ctx context.Context, faults []PayloadFault, a db.Audience) (fields []db.FieldError, err error) {
	if len(faults) == 0 {
		return nil, nil
	}
	scopes, err := s.pages.AudienceScopes(ctx, a)
	if err != nil {
		return nil, err
	}
	for _, f := range faults {
		if len(scopes) == 0 || slices.ContainsFunc(scopes, func(x db.ScopeCount) bool { return x.Kind == f.Kind }) {
			fields = append(fields, f.FieldError)
		}
	}
	return fields, nil
}

// accept stores d once, or finds the notice that has its key. Whatever becomes
// of the client and of the time for the answer, the acceptance goes on to its
// end, and the log tells it where the answer cannot. It fails as checkDraft and
// db.AcceptNotice do, or with errUnsure when the time is over first.
func (s *Server) accept(r *http.Request, d db.Draft, key *db.ClientKey) (db.Acceptance, error) {
	if err := s.checkDraft(r.Context(), &d); err != nil {
		return db.Acceptance{}, err
	}
	type result struct {
		db.Acceptance
		err error
	}
	ctx, by := r.Context(), actorOf(r)
	done := make(chan result, 1)
	s.behind.Go(func() {
		var res result
		defer func() { done <- res }()
		res.Acceptance, res.err = s.acceptSafely(ctx, d, by, key)
		s.tellLost(ctx, by, res.Acceptance, res.err)
	})
	select {
	case res := <-done:
		if res.err == nil {
			concerns(r, "notice", res.Notice.ID)
		}
		return res.Acceptance, res.err
	case <-ctx.Done():
		return db.Acceptance{}, errUnsure
	}
}

// acceptSafely turns a panic into an error: nothing else would catch it here.
func (s *Server) acceptSafely(ctx context.Context, d db.Draft, by db.Actor, key *db.ClientKey) (a db.Acceptance, err error) {
	ctx, span, traceparent := s.tracing.acceptance(ctx)
	d.Traceparent = traceparent
	defer func() { endAcceptance(span, a, err) }()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic while accepting: %v", p)
		}
	}()
	return s.pages.AcceptNotice(ctx, d, by, key, s.expiry)
}

// tellLost logs how an acceptance ended that nobody waits for any more.
func (s *Server) tellLost(ctx context.Context, by db.Actor, a db.Acceptance, err error) {
	if ctx.Err() == nil {
		return
	}
	attrs := []slog.Attr{slog.String("actor", by.ID), slog.String("request_id", by.RequestID),
		slog.String("ended", s.endOf(ctx))}
	ctx = context.WithoutCancel(ctx)
	if err != nil {
		s.log.LogAttrs(ctx, slog.LevelError, "notice was not accepted, and its client had left", append(attrs, slog.Any("error", err))...)
		return
	}
	s.log.LogAttrs(ctx, slog.LevelInfo, "notice was accepted after its client left",
		append(attrs, slog.Int64("notice", a.Notice.ID), slog.Bool("replayed", a.Replayed))...)
}
