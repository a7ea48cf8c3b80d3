package openssh

// Dial opens channels without a connection above them, for tests.
var Dial = dial
