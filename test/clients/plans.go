// Prints at which run pgx gets a plan of the server that does not know the keys, and its error for a
// key without a cast; see test.py.

package main

import (
	"database/sql"
	"fmt"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/lib/pq"
)

func main() {
	db, err := sql.Open("pgx", "")
	db.SetMaxOpenConns(1)
	run := 0
	for plans := 0; plans == 0 && err == nil && run < 20; run++ {
		_, err = db.Exec("SELECT FROM pages WHERE url = ANY ($1)", pq.Array(make([]string, 1000)))
		if err == nil { // the pattern does not match itself
			err = db.QueryRow("SELECT max(generic_plans) FROM pg_prepared_statements WHERE statement ~ '= A[N]Y'").Scan(&plans)
		}
	}
	fmt.Println(run, err)
	fmt.Println(db.QueryRow("SELECT f @> $1 FROM filters WHERE name = 'id'", 42).Scan(new(bool)))
}
