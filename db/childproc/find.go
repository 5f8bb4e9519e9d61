package childproc

import (
	"fmt"
	"os/exec"
)

// A MissingError says that a program is not installed.
type MissingError struct {
	Program string // the program looked for
	Setting string // the variable that makes it unnecessary
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s is not installed: run `apt-get install postgresql redis-server`, or set %s", e.Program, e.Setting)
}

// Find returns the path of a program in PATH, or a *MissingError.
func Find(program, setting string) (string, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return "", &MissingError{Program: program, Setting: setting}
	}
	return path, nil
}
