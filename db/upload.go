package db

import (
	"context"
	"crypto/sha256"
)

// ChunkSize is how many bytes of a file one part of an upload holds at most.
const ChunkSize = 1 << 20

// NewUpload makes room for a file that comes in parts.
func (db *DB) NewUpload(ctx context.Context, by Actor) (upload int64, err error) {
	defer wrap(&err, "NewUpload")
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		return q.QueryRow(ctx, "INSERT INTO upload (begun_by) VALUES ($1) RETURNING id", by.ID).Scan(&upload)
	})
	return upload, err
}

// AddUploadChunk keeps the next part of a file, durably before it returns. Parts
// count from 0. The same part given again changes nothing.
func (db *DB) AddUploadChunk(ctx context.Context, upload int64, seq int, data []byte) (err error) {
	defer wrap(&err, "AddUploadChunk(%d, %d)", upload, seq)
	return db.exec(ctx, `
		INSERT INTO upload_chunk (upload_id, seq, data) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, upload, seq, data)
}

// DropUpload forgets a file that did not become an import.
func (db *DB) DropUpload(ctx context.Context, upload int64) (err error) {
	defer wrap(&err, "DropUpload(%d)", upload)
	return db.exec(ctx, `
		DELETE FROM upload u WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM import WHERE upload_id = u.id)`, upload)
}

// UploadChunk gives one part of a file, or ErrNotFound.
func (db *DB) UploadChunk(ctx context.Context, upload int64, seq int) (data []byte, err error) {
	defer wrap(&err, "UploadChunk(%d, %d)", upload, seq)
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		return orNotFound(q.QueryRow(ctx, "SELECT data FROM upload_chunk WHERE upload_id = $1 AND seq = $2", upload, seq).Scan(&data))
	})
	return data, err
}

// ImportFile is what is known of a whole upload.
type ImportFile struct {
	Name   string // as the sender calls it; may be empty
	Size   int64  // bytes
	SHA256 [sha256.Size]byte
	Chunks int
}
