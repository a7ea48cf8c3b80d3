// Package coalloc runs one job on several resource managers at once: an [Ensemble] of
// parts. It submits all parts at the same time, holds their processes at a barrier until the required
// parts are there, lets the user edit the request meanwhile, and then releases all of them
// or none. The model is that of DUROC (Czajkowski, Foster, Kesselman, HPDC 1999).
package coalloc
