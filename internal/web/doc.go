// Package web is the server of rmctl serve: pages in HTML and an API in JSON
// for the user who started it and nobody else. It decides who is let in. Packages
// pages and api answer; rmctl serve hands them in.
package web
