// Package web is the server of rmctl serve: pages in HTML and an API in JSON
// over a platform, for the user who started it and nobody else.
//
// A Server is an http.Handler. Pages and the API are registered in routes;
// what a page shows live is a view, drawn once per change of the model for all
// clients that look at it, and sent to them as fragments of HTML.
package web
