package db

import (
	"context"
)

// inAudience is the condition of the index device_audience, which holds all that is
// asked for here.
const inAudience = "consent AND disabled_at IS NULL AND erased_at IS NULL"

// matchesAudience says whether a device of inAudience is meant by platforms $1 and tags $2.
const matchesAudience = inAudience + `
	AND (cardinality($1::text[]) = 0 OR platform = ANY ($1))
	AND (cardinality($2::text[]) = 0 OR tags && $2)`

// lists gives a's platforms and tags as they are compared, or an *InvalidError.
func (a Audience) lists() (platforms, tags []string, err error) {
	platforms, tags = normalList(a.Platforms), normalList(a.Tags)
	if len(tags) > MaxTags { // each costs a comparison with each device
		return nil, nil, Invalid("audience", "may hold at most %d tags", MaxTags)
	}
	for _, list := range [][]string{platforms, tags} {
		for _, s := range list {
			if !plain(s) {
				return nil, nil, Invalid("audience", "holds a control character or is not valid UTF-8")
			}
		}
	}
	return platforms, tags, nil
}

// CountAudience says how many devices a notice to a would be told: those that
// consent, are neither disabled nor erased, and match.
func (db *DB) CountAudience(ctx context.Context, a Audience) (n int64, err error) {
	defer wrap(&err, "CountAudience")
	platforms, tags, err := a.lists()
	if err != nil {
		return 0, err
	}
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		return q.QueryRow(ctx, "SELECT count(*) FROM device WHERE "+matchesAudience, platforms, tags).Scan(&n)
	})
	return n, err
}

// HasAudience says whether a notice to a would be told to any device. It ends at the
// first that matches, so it goes through the index only where there is none.
func (db *DB) HasAudience(ctx context.Context, a Audience) (some bool, err error) {
	defer wrap(&err, "HasAudience")
	platforms, tags, err := a.lists()
	if err != nil {
		return false, err
	}
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		return q.QueryRow(ctx, "SELECT EXISTS (SELECT FROM device WHERE "+matchesAudience+")", platforms, tags).Scan(&some)
	})
	return some, err
}

// MissingTags gives those of tags, in normal form and sorted, that no device of any
// audience has. It goes through the devices once at most, however many tags there are:
// from device to device that has one that was not met before, and no further than to
// the last of them.
func (db *DB) MissingTags(ctx context.Context, tags []string) (missing []string, err error) {
	defer wrap(&err, "MissingTags(%d)", len(tags))
	_, tags, err = Audience{Tags: tags}.lists()
	if err != nil || len(tags) == 0 {
		return nil, err
	}
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		return q.QueryRow(ctx, missingTags, tags).Scan(&missing)
	})
	return missing, err
}

const missingTags = `
	WITH RECURSIVE walk (id, missing) AS (
		SELECT 0::bigint, $1::text[]
		UNION ALL
		SELECT d.id, ARRAY(SELECT m FROM unnest(w.missing) m WHERE m <> ALL (d.tags) ORDER BY m)
		FROM walk w CROSS JOIN LATERAL (
			SELECT id, tags FROM device WHERE ` + inAudience + ` AND id > w.id AND tags && w.missing
			ORDER BY id LIMIT 1) d
		WHERE cardinality(w.missing) > 0
	)
	SELECT missing FROM walk ORDER BY id DESC LIMIT 1`

// Bounds of a look at the tags that are in use.
const (
	tagSample = 2000 // devices, the newest
	tagsKnown = 200
)

// TagsInUse gives tags of the newest devices, the most frequent first. It looks at 2,000
// devices however many there are, so a rare tag may be left out.
func (db *DB) TagsInUse(ctx context.Context) (tags []string, err error) {
	defer wrap(&err, "TagsInUse")
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		return q.QueryRow(ctx, `
			SELECT coalesce(array_agg(tag ORDER BY n DESC, tag), '{}') FROM (
				SELECT tag, count(*) AS n FROM (
					SELECT tags FROM device WHERE `+inAudience+` ORDER BY id DESC LIMIT $1) d, unnest(d.tags) tag
				GROUP BY tag ORDER BY n DESC, tag LIMIT $2) t`, tagSample, tagsKnown).Scan(&tags)
	})
	return tags, err
}
