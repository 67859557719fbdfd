// lib_pq.go CASES - tests/drivers.sh runs it, with cases.go: database/sql with lib/pq
package main

import (
	"database/sql"
	"errors"
	"strconv"

	"github.com/lib/pq"
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
		return pq.Array(numbers)
	case "timestamptz":
		var values []interface{}
		for _, text := range texts {
			values = append(values, instant(text))
		}
		return pq.Array(values)
	}
	return pq.Array(texts)
}

func stateOf(err error) string {
	var refusal *pq.Error
	if errors.As(err, &refusal) {
		return string(refusal.Code)
	}
	return "driver"
}

func main() {
	db, err := sql.Open("postgres", "sslmode=disable")
	must(err)
	run(func(one testCase) (found string, err error) {
		tx, err := db.Begin()
		must(err)
		defer tx.Rollback()
		if one.flow == "savepoint" {
			_, err = tx.Exec("SAVEPOINT before")
			must(err)
			if _, err = tx.Exec(refused); err != nil {
				_, err = tx.Exec("ROLLBACK TO SAVEPOINT before")
				must(err)
			}
		}
		if err = tx.QueryRow(one.statement, one.params...).Scan(&found); err != nil {
			return "", err
		}
		if one.flow == "rollback" {
			return found, tx.Rollback()
		}
		return found, tx.Commit()
	}, stateOf)
}
