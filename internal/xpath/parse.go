package xpath

import (
	"errors"
	"fmt"
	"strconv"
)

// deepest is how many brackets an expression may have in each other.
const deepest = 100

// A parser reads the tokens of an expression.
type parser struct {
	tokens []token
	depth  int
}

// parse returns the operand that an expression is.
func parse(tokens []token) (operand, error) {
	p := &parser{tokens: tokens}
	whole, err := p.expression()
	if err == nil && len(p.tokens) > 0 {
		return nil, p.unexpected()
	}
	return whole, err
}

// next returns the next token without taking it.
func (p *parser) next() token {
	if len(p.tokens) == 0 {
		return token{kind: endToken}
	}
	return p.tokens[0]
}

// take takes the next token if it is one of some operators.
func (p *parser) take(operators ...string) (operator string, isTaken bool) {
	next := p.next()
	for _, each := range operators {
		if next.kind == operatorToken && next.text == each {
			p.tokens = p.tokens[1:]
			return each, true
		}
	}
	return "", false
}

// takeKind takes the next token if it is of a kind.
func (p *parser) takeKind(wanted tokenKind) (text string, isTaken bool) {
	next := p.next()
	if next.kind != wanted {
		return "", false
	}
	p.tokens = p.tokens[1:]
	return next.text, true
}

// expect takes an operator that must come next.
func (p *parser) expect(operator string) error {
	if _, isTaken := p.take(operator); !isTaken {
		return p.unexpected()
	}
	return nil
}

// unexpected returns an error about the next token.
func (p *parser) unexpected() error {
	if next := p.next(); next.kind != endToken {
		return fmt.Errorf("unexpected %q", next.text)
	}
	return errors.New("the expression ends early")
}

// levels are the operators of two operands: those that bind less first.
var levels = [][]string{{"or"}, {"and"}, {"=", "!="}, {"<", "<=", ">", ">="}, {"+", "-"}, {"*", "div", "mod"}}

func (p *parser) expression() (operand, error) {
	if p.depth++; p.depth > deepest {
		return nil, errors.New("the expression has too many nested brackets")
	}
	defer func() { p.depth-- }()
	return p.level(0)
}

// level reads operands with the operators of a level and of those that bind more.
func (p *parser) level(level int) (operand, error) {
	if level == len(levels) {
		return p.signed()
	}
	left, err := p.level(level + 1)
	for err == nil {
		operator, isTaken := p.take(levels[level]...)
		if !isTaken {
			return left, nil
		}
		var right operand
		right, err = p.level(level + 1)
		left = operation(operator, left, right)
	}
	return nil, err
}

func operation(operator string, left, right operand) operand {
	switch operator {
	case "or", "and":
		return condition{operator == "or", left, right}
	case "+", "-", "*", "div", "mod":
		return calculation{operator, left, right}
	}
	return comparison{operator, left, right}
}

// signed reads a union with signs before it.
func (p *parser) signed() (operand, error) {
	signs := 0
	for _, isTaken := p.take("-"); isTaken; _, isTaken = p.take("-") {
		signs++
	}
	value, err := p.union()
	if signs > 0 && err == nil {
		value = negation{value}
		if signs%2 == 0 {
			value = negation{value}
		}
	}
	return value, err
}

// union reads paths with bars between them.
func (p *parser) union() (operand, error) {
	left, err := p.path()
	for err == nil {
		if _, isTaken := p.take("|"); !isTaken {
			return left, nil
		}
		var right operand
		if right, err = p.path(); err != nil {
			break
		}
		leftNodes, isLeft := left.(nodeSet)
		rightNodes, isRight := right.(nodeSet)
		if !isLeft || !isRight {
			return nil, errors.New("both sides of | must select nodes")
		}
		left = union{leftNodes, rightNodes}
	}
	return nil, err
}

// path reads a path, or another value with predicates and steps behind it.
func (p *parser) path() (operand, error) {
	if next := p.next(); next.kind == literalToken || next.kind == numberToken || next == (token{operatorToken, "("}) || p.isFunction() {
		return p.pathFrom()
	}
	slashes, isAbsolute := p.take("/", "//")
	if slashes == "/" && !p.isStep() {
		return newPath(true, nil, nil), nil
	}
	var steps []step
	if slashes == "//" {
		steps = append(steps, anyDepth())
	}
	steps, err := p.steps(steps)
	return newPath(isAbsolute, nil, steps), err
}

// pathFrom reads a value, and predicates and steps from it.
func (p *parser) pathFrom() (operand, error) {
	value, err := p.primary()
	if err != nil {
		return nil, err
	}
	predicates, err := p.predicates()
	slashes, goesOn := p.take("/", "//")
	if err != nil || len(predicates) == 0 && !goesOn {
		return value, err
	}
	from, isNodes := value.(nodeSet)
	if !isNodes {
		return nil, errors.New("only nodes have conditions in brackets and further steps")
	}
	if len(predicates) > 0 {
		from = &filter{from, predicates}
	}
	if !goesOn {
		return from, nil
	}
	var steps []step
	if slashes == "//" {
		steps = append(steps, anyDepth())
	}
	steps, err = p.steps(steps)
	return newPath(false, from, steps), err
}

// primary reads a literal, an expression in brackets or a call.
func (p *parser) primary() (operand, error) {
	if text, isText := p.takeKind(literalToken); isText {
		return literal{text}, nil
	}
	if text, isNumber := p.takeKind(numberToken); isNumber {
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("invalid number %q", text)
		}
		return literal{value}, nil
	}
	if _, isBracket := p.take("("); isBracket {
		value, err := p.expression()
		if err != nil {
			return nil, err
		}
		return value, p.expect(")")
	}
	name, _ := p.takeKind(nameToken)
	arguments, err := p.arguments()
	if err != nil {
		return nil, err
	}
	called, err := newCall(name, arguments)
	if err != nil {
		return nil, err
	}
	return called, nil
}

// arguments reads the arguments of a call with their brackets.
func (p *parser) arguments() ([]operand, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	if _, isEmpty := p.take(")"); isEmpty {
		return nil, nil
	}
	var arguments []operand
	for {
		argument, err := p.expression()
		if err != nil {
			return nil, err
		}
		arguments = append(arguments, argument)
		if _, goesOn := p.take(","); !goesOn {
			return arguments, p.expect(")")
		}
	}
}

// isFunction reports whether a call comes next. node() and the like are no functions.
func (p *parser) isFunction() bool {
	return p.next().kind == nameToken && isCall(p.tokens, 0) && p.next().text != "node"
}

// isStep reports whether a step can come next.
func (p *parser) isStep() bool {
	switch next := p.next(); next.kind {
	case nameToken, wildcardToken:
		return true
	case operatorToken:
		return next.text == "." || next.text == ".." || next.text == "@"
	}
	return false
}

// steps reads steps with slashes between them, and appends them to others.
func (p *parser) steps(steps []step) ([]step, error) {
	for {
		each, err := p.step()
		if err != nil {
			return nil, err
		}
		steps = append(steps, each)
		switch slashes, _ := p.take("/", "//"); slashes {
		case "":
			return steps, nil
		case "//":
			steps = append(steps, anyDepth())
		}
	}
}

// step reads one step.
func (p *parser) step() (step, error) {
	if dots, isShort := p.take(".", ".."); isShort {
		if dots == "." {
			return selfStep(), nil
		}
		return step{axis: axes[parentAxis], axisName: parentAxis}, nil
	}
	axisName, err := p.axis()
	if err != nil {
		return step{}, err
	}
	each := step{axis: axes[axisName], axisName: axisName}
	if each.name, err = p.nodeTest(); err != nil {
		return step{}, err
	}
	each.predicates, err = p.predicates()
	return each, err
}

// axis reads the axis of a step, which is that of children if none is written.
func (p *parser) axis() (string, error) {
	if _, isAttribute := p.take("@"); isAttribute {
		return attributeAxis, nil
	}
	if p.next().kind != nameToken || !isAxis(p.tokens, 0) {
		return childAxis, nil
	}
	name, _ := p.takeKind(nameToken)
	p.take("::")
	if _, exists := axes[name]; !exists {
		return "", fmt.Errorf("unknown axis %q", name)
	}
	return name, nil
}

// nodeTest reads the name of a step; empty for node().
func (p *parser) nodeTest() (string, error) {
	if name, isWildcard := p.takeKind(wildcardToken); isWildcard {
		return name, nil
	}
	if name, isAttribute := p.takeKind(attributeToken); isAttribute {
		return name, nil
	}
	if isCall(p.tokens, 0) {
		if name := p.next().text; name != "node" {
			return "", fmt.Errorf("%s() is not a step: records have only fields and attributes", name)
		}
		p.takeKind(nameToken)
		p.take("(")
		return "", p.expect(")")
	}
	name, isName := p.takeKind(nameToken)
	if !isName {
		return "", p.unexpected()
	}
	return name, nil
}

// predicates reads conditions in brackets.
func (p *parser) predicates() ([]operand, error) {
	var predicates []operand
	for {
		if _, isTaken := p.take("["); !isTaken {
			return predicates, nil
		}
		predicate, err := p.expression()
		if err != nil {
			return nil, err
		}
		if err := p.expect("]"); err != nil {
			return nil, err
		}
		predicates = append(predicates, predicate)
	}
}

// anyDepth returns the step that // is.
func anyDepth() step {
	return step{axis: axes[descendantOrSelfAxis], axisName: descendantOrSelfAxis}
}

// selfStep returns the step that . is.
func selfStep() step { return step{axis: axes[selfAxis], axisName: selfAxis} }
