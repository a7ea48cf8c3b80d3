// Package sdm is a debugger for the parallel debugger of Eclipse PTP: a server for each process of a program, and a master
// that connects to the servers and to the client, and speaks the protocol of PTP's scalable debug manager (SDM).
// Below that protocol the master is a user of package debug. DESIGN.md describes it.
package sdm
