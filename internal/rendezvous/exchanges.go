package rendezvous

// KeepExchanges makes named exchanges survive the server. It answers those that an earlier server finished, and
// calls record with the result of each new one, a JSON document, before any process gets it. Record returns once
// the result is durable, or false if the server is about to end. Call KeepExchanges before Serve.
func (s *Server) KeepExchanges(finished map[string][]byte, record func(name string, result []byte) bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.exchanged, s.recording, s.recordExchange = finished, map[string]bool{}, record
	for _, result := range finished {
		s.kept += len(result)
	}
}

// keepExchange reports whether processes may have the result of an exchange. If it has to be recorded first, finish
// is called again once it is. The mutex is held.
func (s *Server) keepExchange(name string, result *frame) bool {
	if name == "" || s.recordExchange == nil || result.Error != "" {
		return true
	}
	if _, isKept := s.exchanged[name]; isKept {
		return true
	}
	if s.recording[name] || s.closed {
		return false
	}
	s.recording[name] = true
	s.tasks.Go(func() {
		isKept := s.recordExchange(name, result.payload)
		s.mutex.Lock()
		defer s.mutex.Unlock()
		delete(s.recording, name)
		if isKept {
			s.exchanged[name] = result.payload
			s.group.finish()
		}
	})
	return false
}
