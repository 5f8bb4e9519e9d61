package db

import "context"

// Condition is how the database itself is.
type Condition struct {
	Bytes    int64 // size of our database
	Conns    int   // connections of everybody
	MaxConns int   // as many are allowed to us
}

// Condition reads how the database itself is. It costs more than Status, since
// the server looks at each of the database's files.
func (db *DB) Condition(ctx context.Context) (c Condition, err error) {
	defer wrap(&err, "Condition")
	ctx, cancel := db.bound(ctx)
	defer cancel()
	err = db.pool.QueryRow(ctx, `
		SELECT pg_database_size(current_database()),
			(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
			current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int`).
		Scan(&c.Bytes, &c.Conns, &c.MaxConns)
	return c, db.noticed(err)
}
