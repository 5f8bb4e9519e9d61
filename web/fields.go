package web

import "bongsu/db"

// unknownFieldError names fields of an input that nobody knows, and what else
// was wrong with it.
type unknownFieldError struct{ fields []db.FieldError }

func (e *unknownFieldError) Error() string { return "unknown fields" }
