// Package migrations holds the numbered SQL that makes the database. A file is
// never changed once it has been released: a change is a new file.
package migrations

import "embed"

// FS holds the SQL files, in the form that tern reads.
//
//go:embed *.sql
var FS embed.FS
