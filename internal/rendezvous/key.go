package rendezvous

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"time"
)

// A Key identifies the co-allocator of one ensemble, and has the secrets of its parts.
type Key struct {
	master      []byte
	certificate tls.Certificate
	fingerprint string
}

// storedKey is the text of a key.
type storedKey struct {
	Master      []byte `json:"master"`
	Certificate []byte `json:"certificate"`
	Private     []byte `json:"private"`
}

// NewKey returns a new random key.
func NewKey() (*Key, error) {
	master := make([]byte, 32)
	_, _ = rand.Read(master) // it never fails
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "rmctl"},
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().AddDate(10, 0, 0), // clocks of nodes differ
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return nil, err
	}
	encoded, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return nil, err
	}
	return keyOf(storedKey{master, certificate, encoded})
}

func keyOf(stored storedKey) (*Key, error) {
	private, err := x509.ParseECPrivateKey(stored.Private)
	if err != nil {
		return nil, err
	}
	if len(stored.Master) != 32 {
		return nil, errors.New("its secret is not complete")
	}
	return &Key{
		master:      stored.Master,
		certificate: tls.Certificate{Certificate: [][]byte{stored.Certificate}, PrivateKey: private},
		fingerprint: fingerprintOf(stored.Certificate),
	}, nil
}

func fingerprintOf(certificate []byte) string {
	sum := sha256.Sum256(certificate)
	return hex.EncodeToString(sum[:])
}

// Encode returns the text of the key's file. It is secret.
func (k *Key) Encode() ([]byte, error) {
	private, isKnown := k.certificate.PrivateKey.(*ecdsa.PrivateKey)
	if !isKnown {
		return nil, errors.New("the key is of an unknown kind")
	}
	encoded, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return nil, err
	}
	return json.Marshal(storedKey{k.master, k.certificate.Certificate[0], encoded})
}

// ParseKey returns the key of a text that Encode returned.
func ParseKey(text []byte) (*Key, error) {
	var stored storedKey
	err := json.Unmarshal(text, &stored)
	var key *Key
	if err == nil {
		key, err = keyOf(stored)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the key of the ensemble: %w", err)
	}
	return key, nil
}

// Fingerprint is the SHA-256 of the certificate, in hexadecimal digits.
func (k *Key) Fingerprint() string { return k.fingerprint }

// PartSecret returns the secret of the part with a serial.
func (k *Key) PartSecret(serial int) []byte { return k.derive("part", serial) }

// address returns the opaque address of the part with a serial.
func (k *Key) address(serial int) int {
	return int(binary.BigEndian.Uint32(k.derive("address", serial)) >> 1)
}

func (k *Key) derive(what string, serial int) []byte {
	mac := hmac.New(sha256.New, k.master)
	mac.Write([]byte(what + " " + strconv.Itoa(serial)))
	return mac.Sum(nil)
}
