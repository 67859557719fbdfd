// pgx.go CASES - tests/drivers.sh runs it, with cases.go: pgx without database/sql
package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/gofrs/uuid"
	"github.com/jackc/pgconn"
	"github.com/jackc/pgx/v4"
)

func arrayOf(kind string, texts []string) interface{} {
	switch kind {
	case "smallint", "int", "bigint":
		var numbers []int64
		for _, text := range texts {
			n, err := strconv.ParseInt(text, 10, 64)
			must(err)
			numbers = append(numbers, n)
		}
		return numbers
	case "timestamptz":
		var times []time.Time
		for _, text := range texts {
			times = append(times, instant(text).(time.Time))
		}
		return times
	case "uuid":
		var ids []uuid.UUID
		for _, text := range texts {
			ids = append(ids, uuid.Must(uuid.FromString(text)))
		}
		return ids
	}
	return texts
}

func stateOf(err error) string {
	var refusal *pgconn.PgError
	if errors.As(err, &refusal) {
		return refusal.Code
	}
	return "driver"
}

func main() {
	ctx := context.Background()
	db, err := pgx.Connect(ctx, "")
	must(err)
	run(func(one testCase) (found string, err error) {
		tx, err := db.Begin(ctx)
		must(err)
		defer tx.Rollback(ctx)
		if one.flow == "savepoint" {
			inner, err := tx.Begin(ctx)
			must(err)
			if _, err = inner.Exec(ctx, refused); err != nil {
				must(inner.Rollback(ctx))
			}
		}
		var value interface{}
		if err = tx.QueryRow(ctx, one.statement, one.params...).Scan(&value); err != nil {
			return "", err
		}
		found = fmt.Sprint(value)
		if one.flow == "rollback" {
			return found, tx.Rollback(ctx)
		}
		return found, tx.Commit(ctx)
	}, stateOf)
}
