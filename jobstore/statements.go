package jobstore

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"
)

// mostStatements bounds the prepared statements of a connection. The store has fewer;
// statements that it composes for one use must not displace them.
const mostStatements = 64

// A connector makes connections that keep their prepared statements: preparing one takes
// longer than running most of them.
type connector struct{ driver.Connector }

// Connect opens the database.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	plain, able := opened.(plainConnection)
	if !able {
		return nil, fmt.Errorf("unsuitable database driver %T", opened)
	}
	return &connection{plainConnection: plain, kept: map[string]*statement{}}, nil
}

// plainConnection is what database/sql needs of a connection.
type plainConnection interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// A connection is one to the database that keeps statements by their texts.
// database/sql uses it from one goroutine at a time.
type connection struct {
	plainConnection
	kept map[string]*statement
}

// A statement is one that was prepared. It is busy while its rows are being read.
type statement struct {
	plainStatement
	busy bool
}

type plainStatement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// ExecContext runs what returns no rows.
func (c *connection) ExecContext(ctx context.Context, query string, arguments []driver.NamedValue) (driver.Result, error) {
	kept, err := c.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	if kept == nil {
		return c.plainConnection.ExecContext(ctx, query, arguments)
	}
	return kept.ExecContext(unwatched(ctx), arguments)
}

// unwatched returns a context for a statement that takes microseconds: the driver would start
// a goroutine for each one to watch the context. What may wait for other processes, the begin
// of a transaction, keeps its context.
func unwatched(ctx context.Context) context.Context { return context.WithoutCancel(ctx) }

// QueryContext runs what returns rows.
func (c *connection) QueryContext(ctx context.Context, query string, arguments []driver.NamedValue) (driver.Rows, error) {
	kept, err := c.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	if kept == nil {
		return c.plainConnection.QueryContext(ctx, query, arguments)
	}
	rows, err := kept.QueryContext(unwatched(ctx), arguments)
	if err != nil {
		return nil, err
	}
	kept.busy = true
	return &keptRows{rows, kept}, nil
}

// statement returns the prepared statement of a query; nil if it is not kept.
func (c *connection) statement(ctx context.Context, query string) (*statement, error) {
	if kept := c.kept[query]; kept != nil {
		if kept.busy {
			return nil, nil
		}
		return kept, nil
	}
	if len(c.kept) >= mostStatements || !isKept(query) {
		return nil, nil
	}
	prepared, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	plain, able := prepared.(plainStatement)
	if !able {
		return nil, prepared.Close()
	}
	c.kept[query] = &statement{plainStatement: plain}
	return c.kept[query], nil
}

// isKept reports whether a query is kept. SQLite runs some statements, such as PRAGMA,
// while it prepares them: a kept one would have its effect only once.
func isKept(query string) bool {
	word, _, _ := strings.Cut(query, " ")
	switch word {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "SAVEPOINT", "RELEASE", "ROLLBACK":
		return true
	}
	return false
}

// Close ends the connection and its statements.
func (c *connection) Close() error {
	var failed error
	for _, kept := range c.kept {
		if err := kept.Close(); err != nil && failed == nil {
			failed = err
		}
	}
	if err := c.plainConnection.Close(); err != nil {
		return err
	}
	return failed
}

// keptRows are the rows of a statement that is kept.
type keptRows struct {
	driver.Rows
	of *statement
}

// Close makes the statement ready for its next run.
func (r *keptRows) Close() error {
	r.of.busy = false
	return r.Rows.Close()
}
