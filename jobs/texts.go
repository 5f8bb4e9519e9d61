package jobs

import (
	"context"
	"sync"

	"bongsu/db"
)

// textsMax is how many notices' texts are kept.
const textsMax = 256

// texts keeps what notices say, which never changes, so that a retry task need
// not read it again.
type texts struct {
	db *db.DB
	mu sync.Mutex
	by map[int64]content
}

func (t *texts) get(ctx context.Context, notice int64) (content, error) {
	t.mu.Lock()
	c, ok := t.by[notice]
	t.mu.Unlock()
	if ok {
		return c, nil
	}
	n, _, err := t.db.Notice(ctx, notice)
	if err != nil {
		return content{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by == nil || len(t.by) >= textsMax {
		t.by = make(map[int64]content)
	}
	t.by[notice] = contentOf(n)
	return t.by[notice], nil
}
