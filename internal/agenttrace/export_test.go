package agenttrace

import "github.com/rmctl/rmctl/proxy"

// Break makes writes to a followed file fail.
func (r *Recorder) Break(path string, err error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.files[path].write = func(proxy.Line) error { return err }
}
