package db

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// ImportMemory is how long after its acceptance an import is the answer to the
// same file, once it has ended well.
const ImportMemory = time.Hour

// AcceptedImport is the answer to an upload.
type AcceptedImport struct {
	Import
	Original bool // it was there before
}

// maxFileName is how much is kept of a file's name, in characters.
const maxFileName = 200

// importKey is what makes an import one and the same: the content, the options and
// who sends it.
func importKey(f ImportFile, o ImportOptions, by Actor) []byte {
	h := sha256.New()
	add := func(part []byte) {
		_ = binary.Write(h, binary.BigEndian, uint32(len(part))) // a hash takes all
		h.Write(part)
	}
	flags := []byte{0, 0, 0}
	for i, on := range []bool{o.DryRun, o.Enable, o.FullList} {
		if on {
			flags[i] = 1
		}
	}
	add([]byte("import/1"))
	add(f.SHA256[:])
	add(flags)
	add(binary.BigEndian.AppendUint64(nil, uint64(o.AgainOf)))
	add([]byte(by.ID))
	return h.Sum(nil)
}

// AcceptImport makes an import of a whole upload, or finds the one that is the
// same: the same bytes and options, of the same sender, not ended yet or accepted
// within ImportMemory, and neither failed nor cancelled. The upload of a repeated
// one is dropped. It is one transaction and runs to its end whatever becomes of
// ctx. It is an *InvalidError where AgainOf names no import.
func (db *DB) AcceptImport(ctx context.Context, upload int64, f ImportFile, o ImportOptions, by Actor) (_ AcceptedImport, err error) {
	defer wrap(&err, "AcceptImport(%d)", upload)
	ctx = context.WithoutCancel(ctx)
	key := importKey(f, o, by)
	id, original, err := db.insertImport(ctx, upload, f, o, by, key)
	if err != nil && !isRefusal(err) {
		// A commit whose answer was lost may have happened: the upload knows.
		if found, lookErr := db.importOfUpload(ctx, upload); lookErr == nil {
			id, original, err = found, false, nil
		}
	}
	if err != nil {
		return AcceptedImport{}, err
	}
	i, err := db.Import(ctx, id)
	return AcceptedImport{i, original}, err
}

func (db *DB) importOfUpload(ctx context.Context, upload int64) (id int64, err error) {
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		return orNotFound(q.QueryRow(ctx, "SELECT id FROM import WHERE upload_id = $1", upload).Scan(&id))
	})
	return id, err
}

func (db *DB) insertImport(ctx context.Context, upload int64, f ImportFile, o ImportOptions, by Actor, key []byte) (id int64, original bool, err error) {
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if id, err = sameImport(ctx, tx, key); err == nil {
			original = true
			_, err := tx.Exec(ctx, "DELETE FROM upload WHERE id = $1", upload)
			return err
		}
		if !errors.Is(err, ErrNotFound) {
			return err
		}
		if id, err = addImport(ctx, tx, upload, f, o, by); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "UPDATE import_key SET import_id = $2 WHERE key = $1", key, id); err != nil {
			return err
		}
		return addAudit(ctx, tx, by, "import.accept", importObject(id), map[string]any{
			"file": fileName(f.Name), "bytes": f.Size, "dry_run": o.DryRun, "enable": o.Enable, "full_list": o.FullList, "again_of": o.AgainOf})
	})
	return id, original, err
}

// sameImport gives the import that the key names and that is an answer still, or
// ErrNotFound. The key is locked either way: who comes with the same one waits.
func sameImport(ctx context.Context, tx pgx.Tx, key []byte) (id int64, err error) {
	err = tx.QueryRow(ctx, `
		INSERT INTO import_key (key, import_id) VALUES ($1, 0)
		ON CONFLICT (key) DO UPDATE SET import_id = import_key.import_id
		RETURNING import_id`, key).Scan(&id)
	if err != nil {
		return 0, err
	}
	err = tx.QueryRow(ctx, `
		SELECT id FROM import
		WHERE id = $1 AND (state IN ('pending', 'running') OR state = 'done' AND accepted_at > now() - $2::interval)`,
		id, ImportMemory).Scan(&id)
	return id, orNotFound(err)
}

func addImport(ctx context.Context, tx pgx.Tx, upload int64, f ImportFile, o ImportOptions, by Actor) (id int64, err error) {
	var again *int64
	if o.AgainOf != 0 {
		err := tx.QueryRow(ctx, "SELECT id FROM import WHERE id = $1", o.AgainOf).Scan(&again)
		if errors.Is(err, pgx.ErrNoRows) {
			return 0, Invalid("again_of", "names import %d, which does not exist", o.AgainOf)
		}
		if err != nil {
			return 0, err
		}
	}
	err = tx.QueryRow(ctx, `
		INSERT INTO import (upload_id, file_name, file_size, chunks, sha256, dry_run, enable, full_list, again_of,
			accepted_by, accepted_by_name)
		VALUES (@upload, @name, @size, @chunks, @sha256, @dry_run, @enable, @full_list, @again, @by, @by_name)
		RETURNING id`, pgx.StrictNamedArgs{"upload": upload, "name": fileName(f.Name), "size": f.Size, "chunks": f.Chunks,
		"sha256": f.SHA256[:], "dry_run": o.DryRun, "enable": o.Enable, "full_list": o.FullList, "again": again,
		"by": by.ID, "by_name": by.Name}).Scan(&id)
	return id, err
}

// fileName is a file's name as it is kept and shown.
func fileName(name string) string {
	if !plain(name) {
		return ""
	}
	if utf8.RuneCountInString(name) > maxFileName {
		return string([]rune(name)[:maxFileName]) + "…"
	}
	return name
}
