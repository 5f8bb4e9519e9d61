package db

import (
	"context"
	"encoding/json"
	"fmt"
)

// Role is what somebody may do.
type Role string

// The roles. An admin may do all that the others may.
const (
	Operator Role = "operator"
	Support  Role = "support"
	Admin    Role = "admin"
)

// Actor is who does something: a person, a program with a token, or a command.
type Actor struct {
	ID        string // user:3, token:7 or command
	Name      string // e-mail, name of the token, or of the system's user
	Role      Role   // as held at this moment
	RequestID string // "" outside a request
}

// UserActor names a person.
func UserActor(id int64, email string, role Role, requestID string) Actor {
	return Actor{fmt.Sprintf("user:%d", id), email, role, requestID}
}

// TokenActor names a program.
func TokenActor(id int64, name string, role Role, requestID string) Actor {
	return Actor{fmt.Sprintf("token:%d", id), name, role, requestID}
}

// addAudit writes one line of the audit log, in the transaction of the act
// itself. object is such as "notice:12".
func addAudit(ctx context.Context, q querier, a Actor, act, object string, detail map[string]any) error {
	return writeAudit(ctx, q, a, act, object, "done", detail)
}

func writeAudit(ctx context.Context, q querier, a Actor, act, object, result string, detail map[string]any) error {
	if detail == nil {
		detail = map[string]any{}
	}
	raw, err := json.Marshal(detail)
	if err != nil {
		return fmt.Errorf("audit detail: %w", err)
	}
	_, err = q.Exec(ctx, `
		INSERT INTO audit (actor, actor_name, role, act, object, result, detail, request_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, nullif($8, ''))`,
		a.ID, a.Name, string(a.Role), act, object, result, raw, a.RequestID)
	return err
}
