package pushfcm

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// googleTokenURI is where a key without a token_uri is exchanged.
const googleTokenURI = "https://oauth2.googleapis.com/token"

// account is what a service account key says, as far as it is needed.
type account struct {
	Type     string `json:"type"`
	Project  string `json:"project_id"`
	KeyID    string `json:"private_key_id"`
	Key      string `json:"private_key"` // PEM
	Email    string `json:"client_email"`
	TokenURI string `json:"token_uri"`
}

// readKey reads a service account key. plain lets the token be fetched without
// TLS. Its errors name the field and never what stands in it.
func readKey(key []byte, plain bool) (account, error) {
	var a account
	if err := json.Unmarshal(key, &a); err != nil {
		return account{}, errors.New("pushfcm: the service account key is not a JSON object: use the file as the Firebase console gives it")
	}
	if a.Type != "service_account" {
		return account{}, errors.New(`pushfcm: the key's "type" is not "service_account": ` +
			"use a service account key, not the google-services.json of an app")
	}
	for _, f := range []struct{ name, value string }{
		{"project_id", a.Project}, {"client_email", a.Email}, {"private_key", a.Key},
	} {
		if f.value == "" {
			return account{}, fmt.Errorf("pushfcm: the service account key has no %q: make a new key in the Firebase console", f.name)
		}
	}
	if strings.ContainsFunc(a.Project, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`/?#%\`, r) }) {
		return account{}, errors.New(`pushfcm: the key's "project_id" has characters that no project has`)
	}
	if err := checkRSA(a.Key); err != nil {
		return account{}, err
	}
	if a.TokenURI == "" {
		a.TokenURI = googleTokenURI
	}
	return a, checkTokenURI(a.TokenURI, plain)
}

func checkRSA(text string) error {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return errors.New(`pushfcm: the key's "private_key" is not PEM: it begins with a BEGIN line and has its line ends as \n`)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		parsed, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	}
	if _, ok := parsed.(*rsa.PrivateKey); err != nil || !ok {
		return errors.New(`pushfcm: the key's "private_key" is not an RSA key`)
	}
	return nil
}

// checkTokenURI keeps the signed assertion, which is as good as a password, off
// plain connections, unless the messages go over one too.
func checkTokenURI(raw string, plain bool) error {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Scheme != "https" && (u.Scheme != "http" || !plain) {
		return errors.New(`pushfcm: the key's "token_uri" must begin with https:// and a host`)
	}
	return nil
}
