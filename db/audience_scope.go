package db

import "context"

// ScopeCount is how many devices of an audience are in one scope.
type ScopeCount struct {
	Scope   string // such as http, fcm:android, apns:sandbox or webpush:push.example.com
	Kind    string // the vendor
	Devices int64
}

// AudienceScopes says how many devices a notice to a would be told in each scope,
// by scope; a scope without any is left out. It reads the index alone.
func (db *DB) AudienceScopes(ctx context.Context, a Audience) (list []ScopeCount, err error) {
	defer wrap(&err, "AudienceScopes")
	platforms, tags, err := a.lists()
	if err != nil {
		return nil, err
	}
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		list, err = allRows[ScopeCount](q.Query(ctx, audienceScopes, platforms, tags))
		return err
	})
	return list, err
}

const audienceScopes = `
	SELECT scope, split_part(scope, ':', 1) AS kind, count(*) AS devices
	FROM device WHERE ` + matchesAudience + `
	GROUP BY scope ORDER BY scope`
