// Package web is the server of rmctl serve: pages in HTML and an API in JSON for the user
// who started it. It authorizes requests; the packages pages and api answer them.
package web
