// cases.go - what the programs in Go share: a case as a line, and values as Go has them
// (tests/drivers/README.md describes lines and kinds).
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/uuid"
)

const refused = "SELECT prescient.enqueue('', '', '', '')"

type testCase struct {
	name, flow, statement string
	params                []interface{}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func whole(text string) interface{} {
	n, err := strconv.ParseInt(text, 10, 64)
	must(err)
	return n
}

func instant(text string) interface{} {
	at, err := time.Parse(time.RFC3339, text)
	must(err)
	return at
}

func seconds(text string) interface{} {
	n, err := strconv.Atoi(text)
	must(err)
	return time.Duration(n) * time.Second
}

func same(text string) interface{} { return text }

var kinds = map[string]func(string) interface{}{
	"smallint": whole, "int": whole, "bigint": whole, "text": same,
	"uuid":        func(text string) interface{} { return uuid.Must(uuid.FromString(text)) },
	"timestamptz": instant, "interval": seconds, "json": same, "jsonb": same,
}

func valueOf(param string) interface{} {
	at := strings.Index(param, "=")
	kind, text := param[:at], param[at+1:]
	if !strings.HasSuffix(kind, "[]") {
		return kinds[kind](text)
	}
	return arrayOf(strings.TrimSuffix(kind, "[]"), strings.Split(text, "|"))
}

// run calls each case of the file and prints what it said. The state of an error is its SQLSTATE.
func run(call func(testCase) (string, error), state func(error) string) {
	file, err := os.Open(os.Args[1])
	must(err)
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		part := strings.Split(lines.Text(), "\t")
		one := testCase{name: part[0], flow: part[1], statement: part[2]}
		for _, param := range part[3:] {
			one.params = append(one.params, valueOf(param))
		}
		found, err := call(one)
		if err != nil {
			words := strings.Join(strings.Fields(err.Error()), " ")
			fmt.Printf("%s\terror\t%s\t%s\n", one.name, state(err), words)
			continue
		}
		fmt.Printf("%s\t%s\n", one.name, found)
	}
	must(lines.Err())
}
