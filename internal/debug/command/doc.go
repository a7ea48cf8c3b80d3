// Package command is the command line of debugging: rmctl debug, with a prompt or for an editor.
package command
