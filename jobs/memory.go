package jobs

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Memory tells how many bytes Redis uses and how many it may use, 0 for as many
// as there are.
func Memory(ctx context.Context, c redis.UniversalClient) (used, most int64, err error) {
	info, err := c.Info(ctx, "memory").Result()
	if err != nil {
		return 0, 0, err
	}
	if used, err = infoNumber(info, "used_memory"); err != nil {
		return 0, 0, err
	}
	most, err = infoNumber(info, "maxmemory")
	return used, most, err
}

// infoNumber reads one number out of what INFO says.
func infoNumber(info, name string) (int64, error) {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		}
	}
	return 0, fmt.Errorf("redis does not tell its %s", name)
}
