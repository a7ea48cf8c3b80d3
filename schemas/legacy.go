package schemas

// Earlier generations of the format spelled some things differently. Their
// spellings are accepted without a report, under the present names.

type spelling struct{ typeName, name string }

var legacyElements = map[spelling]string{
	{"control", "property"}: "attribute",
}

// legacyAttributes gives the present name; an empty one means that the attribute
// no longer has a meaning.
var legacyAttributes = map[spelling]string{
	{"widget", "saveValueTo"}:        "attribute",
	{"browse", "saveValueTo"}:        "attribute",
	{"button-group", "saveValueTo"}:  "attribute",
	{"argument", "isUndefIfMatches"}: "isUndefinedIfMatches",
	{"target", "type"}:               "", // distinguished attributes from properties
}

// legacyValues are those that an attribute could have besides the present ones.
var legacyValues = map[spelling]string{
	{"widget", "type"}: "envconfig", // now type custom with typeId envconfig
}
