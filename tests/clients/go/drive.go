// Tries go-mssqldb; prints a line a feature as python/drive.py does.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
)

const beyond = "täxt \u4e2d\u6587 \U0001f40e\U00010348"

func open(password string) *sql.DB {
	encrypt := "disable"
	if os.Getenv("PIKEPOLE_ENCRYPT") == "on" {
		encrypt = "true"
	}
	address := url.URL{
		Scheme:   "sqlserver",
		User:     url.UserPassword(os.Getenv("PIKEPOLE_USER"), password),
		Host:     os.Getenv("PIKEPOLE_HOST") + ":" + os.Getenv("PIKEPOLE_PORT"),
		RawQuery: url.Values{"database": {"master"}, "encrypt": {encrypt}, "trustservercertificate": {"true"}}.Encode(),
	}
	db, err := sql.Open("sqlserver", address.String())
	must(err)
	return db
}

func connect() *sql.DB { return open(os.Getenv("PIKEPOLE_PASSWORD")) }

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func equal(got, expected any, what string) {
	if !reflect.DeepEqual(got, expected) {
		panic(fmt.Sprintf("%s: %.120v instead of %.120v", what, got, expected))
	}
}

func exec(db *sql.DB, batches ...string) {
	for _, batch := range batches {
		_, err := db.Exec(batch)
		must(err)
	}
}

func scalar[T any](db *sql.DB, query string, arguments ...any) T {
	var value T
	must(db.QueryRow(query, arguments...).Scan(&value))
	return value
}

func connects() {
	db := connect()
	defer db.Close()
	equal(scalar[string](db, "SELECT DB_NAME()"), "master", "database")
	wrong := open("not the password")
	defer wrong.Close()
	var failure mssql.Error
	if err := wrong.Ping(); !errors.As(err, &failure) || failure.Number != 18456 {
		panic(fmt.Sprintf("a wrong password: %v", err))
	}
}

func types() {
	db := connect()
	defer db.Close()
	utc := func(year, month, day, hour, minute, second, nano int) time.Time {
		return time.Date(year, time.Month(month), day, hour, minute, second, nano, time.UTC)
	}
	cases := []struct {
		kind   string
		values []any
	}{
		{"bit", []any{true, false}},
		{"tinyint", []any{int64(0), int64(255)}},
		{"int", []any{int64(-1 << 31), int64(1<<31 - 1)}},
		{"bigint", []any{int64(-1 << 63), int64(1<<63 - 1)}},
		{"float", []any{1.7976931348623157e308, 0.1}},
		{"date", []any{utc(1, 1, 1, 0, 0, 0, 0), utc(9999, 12, 31, 0, 0, 0, 0)}},
		{"datetime2(7)", []any{utc(1, 1, 1, 0, 0, 0, 0), utc(9999, 12, 31, 23, 59, 59, 999999900)}},
		{"nvarchar(4000)", []any{"", beyond, strings.Repeat("\u4e2d", 2000)}},
		{"nvarchar(max)", []any{strings.Repeat(beyond, 250)}},
		{"varchar(8000)", []any{"", "plain", strings.Repeat("x", 8000)}},
		{"varbinary(8000)", []any{[]byte{0, 255, 16}}},
		{"varbinary(max)", []any{make([]byte, 7000)}},
		{"text", []any{"", "plain", strings.Repeat("y", 9000)}},
		{"ntext", []any{beyond, strings.Repeat(beyond, 250)}},
		{"image", []any{[]byte{0, 255, 16}, make([]byte, 9000)}},
	}
	for _, one := range cases {
		exec(db, "DROP TABLE IF EXISTS dbo.go_t", "CREATE TABLE dbo.go_t (n int PRIMARY KEY, v "+one.kind+")")
		all := append(slices.Clone(one.values), nil)
		for n, value := range all {
			_, err := db.Exec("INSERT dbo.go_t VALUES (@p1, "+map[bool]string{true: "CONVERT(varbinary(max), @p2)", false: "@p2"}[value == nil && (strings.HasPrefix(one.kind, "varbinary") || one.kind == "image")]+")", n, value)
			must(err)
		}
		rows, err := db.Query("SELECT v FROM dbo.go_t ORDER BY n")
		must(err)
		for n := 0; rows.Next(); n++ {
			var got any
			must(rows.Scan(&got))
			if moment, is := got.(time.Time); is {
				got = moment.UTC()
			}
			equal(got, all[n], one.kind)
		}
		must(rows.Err())
	}
	exec(db, "DROP TABLE IF EXISTS dbo.go_d; CREATE TABLE dbo.go_d (v decimal(38, 10), m money, u uniqueidentifier, o datetimeoffset(7))")
	zone := time.FixedZone("", 5*3600+1800)
	moment := time.Date(2024, 2, 29, 12, 30, 15, 123456700, zone)
	_, err := db.Exec("INSERT dbo.go_d VALUES (@p1, @p2, @p3, @p4)", "1234567890123456789012345678.0123456789", "922337203685477.5807", "00112233-4455-6677-8899-AABBCCDDEEFF", moment)
	must(err)
	var number, money string
	var unique mssql.UniqueIdentifier
	var back time.Time
	must(db.QueryRow("SELECT * FROM dbo.go_d").Scan(&number, &money, &unique, &back))
	equal([]string{number, money, unique.String()}, []string{"1234567890123456789012345678.0123456789", "922337203685477.5807", "00112233-4455-6677-8899-AABBCCDDEEFF"}, "exact")
	equal(back.Equal(moment), true, "moment")
}

// Collations whose code pages have these texts: a client decodes a varchar by its column's collation.
var pages = map[string]string{
	"Cyrillic_General_CI_AS": "\u041f\u0440\u0438\u0432\u0435\u0442",
	"SQL_Latin1_General_CP1251_CI_AS": "\u041f\u0440\u0438\u0432\u0435\u0442",
	"Greek_CI_AS": "\u0393\u03b5\u03b9\u03ac",
	"Czech_CI_AS": "\u010de\u0161tina",
	"Turkish_CI_AS": "\u0130\u0131\u011f\u015f",
	"Hebrew_CI_AS": "\u05e9\u05dc\u05d5\u05dd",
	"Arabic_CI_AS": "\u0633\u0644\u0627\u0645",
	"Latvian_CI_AS": "\u0137\u012bmija",
	"Thai_CI_AS": "\u0e44\u0e17\u0e22",
	"Japanese_CI_AS": "\u65e5\u672c\u8a9e\uff71",
	"Chinese_PRC_CI_AS": "\u4e2d\u6587",
	"Chinese_Taiwan_Stroke_CI_AS": "\u7e41\u9ad4",
	"Korean_Wansung_CI_AS": "\ud55c\uae00",
	"Latin1_General_100_CI_AS_SC_UTF8": "\u00e9\u65e5\U0001f600",
}

func codePages() {
	db := connect()
	defer db.Close()
	for collation, text := range pages {
		exec(db, "DROP TABLE IF EXISTS dbo.page_t", "CREATE TABLE dbo.page_t (v varchar(20) COLLATE "+collation+")")
		_, err := db.Exec("INSERT dbo.page_t VALUES (@p1)", text)
		must(err)
		equal(scalar[string](db, "SELECT v FROM dbo.page_t"), text, collation)
	}
}

func longValues() map[string]any {
	return map[string]any{"nvarchar(4000)": strings.Repeat("\u4e2d", 4000), "nvarchar(max)": strings.Repeat(beyond, 20000), "varbinary(max)": make([]byte, 300000)}
}

func longSent() {
	db := connect()
	defer db.Close()
	for kind, value := range longValues() {
		equal(scalar[any](db, "SELECT @p1", value), value, kind)
	}
}

func longStored() {
	db := connect()
	defer db.Close()
	for kind, value := range longValues() {
		exec(db, "DROP TABLE IF EXISTS dbo.go_l", "CREATE TABLE dbo.go_l (v "+kind+")")
		_, err := db.Exec("INSERT dbo.go_l VALUES (@p1)", value)
		must(err)
		equal(scalar[any](db, "SELECT v FROM dbo.go_l"), value, kind)
	}
}

func parameters() {
	db := connect()
	defer db.Close()
	var a int
	var b string
	must(db.QueryRow("SELECT @a + 1, @b", sql.Named("a", 41), sql.Named("b", "o'brien")).Scan(&a, &b))
	equal([]any{a, b}, []any{42, "o'brien"}, "answer")
}

func procedures() {
	db := connect()
	defer db.Close()
	exec(db, "DROP PROCEDURE IF EXISTS dbo.go_p", "CREATE PROCEDURE dbo.go_p @a int, @sum int OUTPUT AS BEGIN SET @sum = @a + 5; RETURN 7 END")
	var sum int
	var status mssql.ReturnStatus
	_, err := db.Exec("dbo.go_p", sql.Named("a", 3), sql.Named("sum", sql.Out{Dest: &sum}), &status)
	must(err)
	equal([]int{sum, int(status)}, []int{8, 7}, "answer")
}

func tableValued() {
	db := connect()
	defer db.Close()
	exec(db, "DROP PROCEDURE IF EXISTS dbo.go_tvp", "DROP TYPE IF EXISTS dbo.go_list", "CREATE TYPE dbo.go_list AS TABLE (id int, name nvarchar(20))",
		"CREATE PROCEDURE dbo.go_tvp @list dbo.go_list READONLY AS SELECT COUNT(*) FROM @list")
	type row struct {
		ID   int64
		Name string
	}
	list := mssql.TVP{TypeName: "dbo.go_list", Value: []row{{1, "a"}, {2, "b"}}}
	equal(scalar[int](db, "EXEC dbo.go_tvp @list", sql.Named("list", list)), 2, "rows")
}

func prepared() {
	db := connect()
	defer db.Close()
	exec(db, "DROP TABLE IF EXISTS dbo.go_h; CREATE TABLE dbo.go_h (a int PRIMARY KEY, b varchar(20))")
	statement, err := db.Prepare("INSERT dbo.go_h VALUES (@p1, @p2)")
	must(err)
	for n := range 100 {
		_, err := statement.Exec(n, fmt.Sprint("row ", n))
		must(err)
	}
	must(statement.Close())
	equal(scalar[int](db, "SELECT SUM(a) FROM dbo.go_h"), 4950, "sum")
}

func transactions() {
	db := connect()
	defer db.Close()
	exec(db, "DROP TABLE IF EXISTS dbo.go_x; CREATE TABLE dbo.go_x (a int)")
	for _, level := range []sql.IsolationLevel{sql.LevelDefault, sql.LevelReadCommitted, sql.LevelSerializable, sql.LevelSnapshot} {
		tx, err := db.BeginTx(context.Background(), &sql.TxOptions{Isolation: level})
		must(err)
		_, err = tx.Exec("INSERT dbo.go_x VALUES (1)")
		must(err)
		must(tx.Rollback())
	}
	tx, err := db.Begin()
	must(err)
	for _, batch := range []string{"INSERT dbo.go_x VALUES (2)", "SAVE TRANSACTION here", "INSERT dbo.go_x VALUES (3)", "ROLLBACK TRANSACTION here"} {
		_, err = tx.Exec(batch)
		must(err)
	}
	must(tx.Commit())
	equal(scalar[int](db, "SELECT SUM(a) FROM dbo.go_x"), 2, "sum")
}

func errorsTold() {
	db := connect()
	defer db.Close()
	for _, one := range []struct {
		batch  string
		number int32
		line   int32
	}{
		{"SELECT 1\nSELECT * FROM dbo.nowhere", 208, 2},
		{"SELECT 1 +\n\n* FROM", 102, 3},
		{"DECLARE @i int = 0;\nSELECT 1 / @i", 8134, 2},
		{"THROW 51234, 'thrown', 1", 51234, 1},
	} {
		_, err := db.Exec(one.batch)
		var failure mssql.Error
		if !errors.As(err, &failure) {
			panic(fmt.Sprintf("%s: %v", one.batch, err))
		}
		equal([]int32{failure.Number, failure.LineNo}, []int32{one.number, one.line}, one.batch)
	}
}

func resultSets() {
	db := connect()
	defer db.Close()
	rows, err := db.Query("SELECT 1 AS a; SELECT 'x' AS b, 2 AS c; SELECT 3 AS d WHERE 1 = 0; SELECT 4 AS e")
	must(err)
	var seen []string
	for more := true; more; more = rows.NextResultSet() {
		columns, err := rows.Columns()
		must(err)
		count := 0
		for rows.Next() {
			count++
		}
		seen = append(seen, fmt.Sprint(columns, count))
	}
	must(rows.Err())
	equal(seen, []string{"[a] 1", "[b c] 1", "[d] 0", "[e] 1"}, "sets")
}

func millionRows() {
	db := connect()
	defer db.Close()
	rows, err := db.Query("SELECT value, CAST(value AS varchar(20)) FROM GENERATE_SERIES(1, 1000000)")
	must(err)
	var count, sum, value int64
	var text string
	for rows.Next() {
		must(rows.Scan(&value, &text))
		count++
		sum += value
	}
	must(rows.Err())
	equal([]int64{count, sum}, []int64{1000000, 500000500000}, "rows")
}

func rowCounts() {
	db := connect()
	defer db.Close()
	exec(db, "DROP TABLE IF EXISTS dbo.go_c; CREATE TABLE dbo.go_c (a int)")
	result, err := db.Exec("INSERT dbo.go_c SELECT value FROM GENERATE_SERIES(1, 10)")
	must(err)
	count, err := result.RowsAffected()
	must(err)
	equal(count, int64(10), "inserted")
}

func bulk() {
	db := connect()
	defer db.Close()
	exec(db, "DROP TABLE IF EXISTS dbo.go_b; CREATE TABLE dbo.go_b (a int NOT NULL, b nvarchar(40) NULL, c float NULL, d datetime2 NULL, e decimal(18,4) NULL)")
	tx, err := db.Begin()
	must(err)
	statement, err := tx.Prepare(mssql.CopyIn("dbo.go_b", mssql.BulkOptions{}, "a", "b", "c", "d", "e"))
	must(err)
	for n := range 10000 {
		var half any
		if n%2 == 0 {
			half = float64(n) / 2
		}
		_, err = statement.Exec(n, fmt.Sprint("text ", n), half, time.Date(2024, 1, 1, 0, 0, n, 0, time.UTC), "12.3456")
		must(err)
	}
	_, err = statement.Exec()
	must(err)
	must(statement.Close())
	must(tx.Commit())
	equal(scalar[string](db, "SELECT CONCAT(COUNT(*), ' ', SUM(a), ' ', COUNT(c), ' ', SUM(e)) FROM dbo.go_b"), "10000 49995000 5000 123456.0000", "rows")
}

func cancel() {
	db := connect()
	defer db.Close()
	db.SetMaxOpenConns(1)
	soon, stop := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer stop()
	began := time.Now()
	_, err := db.ExecContext(soon, "WAITFOR DELAY '00:00:20'")
	if err == nil || time.Since(began) > 8*time.Second {
		panic(fmt.Sprint("not cancelled: ", err))
	}
	equal(scalar[int](db, "SELECT 1"), 1, "afterwards")
}

func pool() {
	db := connect()
	defer db.Close()
	db.SetMaxOpenConns(1)
	exec(db, "SET NOCOUNT ON; CREATE TABLE #of_this_connection (a int)")
	// database/sql resets the connection before it hands it out again.
	equal(scalar[bool](db, "SELECT CAST(CASE WHEN OBJECT_ID('tempdb..#of_this_connection') IS NULL THEN 1 ELSE 0 END AS bit)"), true, "reset")
	equal(scalar[int](db, "SELECT @@TRANCOUNT"), 0, "transactions")
}

func reconnect() {
	for range 30 {
		db := connect()
		equal(scalar[int](db, "SELECT 1"), 1, "answer")
		must(db.Close())
	}
}

func twoHundred() {
	var wait sync.WaitGroup
	failures := make(chan any, 200)
	for number := range 200 {
		wait.Go(func() {
			defer func() {
				if failure := recover(); failure != nil {
					failures <- failure
				}
			}()
			db := connect()
			defer db.Close()
			for turn := range 5 {
				equal(scalar[int](db, "SELECT @p1 + @p2", number, turn), number+turn, "answer")
			}
		})
	}
	wait.Wait()
	if len(failures) > 0 {
		panic(fmt.Sprint(len(failures), " failed: ", <-failures))
	}
}

func try(name string, work func()) {
	defer func() {
		if failure := recover(); failure != nil {
			fmt.Printf("%s\tfailed\t%.300s\n", name, strings.ReplaceAll(fmt.Sprint(failure), "\n", " "))
		}
	}()
	work()
	fmt.Printf("%s\tok\t\n", name)
}

func main() {
	features := []struct {
		name string
		work func()
	}{
		{"connect", connects}, {"types round trip", types}, {"code pages", codePages}, {"long values", longSent},
		{"long values stored", longStored}, {"parameters", parameters}, {"procedures", procedures},
		{"table-valued parameters", tableValued}, {"prepared statements", prepared}, {"transactions", transactions}, {"errors", errorsTold},
		{"result sets", resultSets}, {"a million rows", millionRows}, {"row counts", rowCounts}, {"bulk insert", bulk}, {"cancel", cancel},
		{"reset of a pooled connection", pool}, {"reconnect", reconnect}, {"two hundred connections", twoHundred},
	}
	for _, feature := range features {
		if len(os.Args) < 2 || slices.Contains(os.Args[1:], feature.name) {
			try(feature.name, feature.work)
		}
	}
}
