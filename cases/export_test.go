package cases

// ReadFlow is what RunFolder reads a flow with.
var ReadFlow = readFlow
