// Package web is the server of rmctl serve: pages in HTML and an API in JSON
// over a platform, for the user who started it and nobody else. It decides who
// is let in; packages pages, api and live answer.
package web
