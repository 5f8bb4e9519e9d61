package wire

import (
	"crypto/sha256"
	"encoding/hex"
)

// Fingerprint is what may be shown of a secret: the first 12 hex digits of its
// SHA-256, and nothing where there is none.
func Fingerprint(secret string) string {
	if secret == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:6])
}
