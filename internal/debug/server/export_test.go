package server

// SetScope sets the file with the kernel's restriction of debuggers.
func SetScope(options *Options, file string) { options.scope = file }
