#!/usr/bin/env python3
"""Orders over TDS, with pymssql: a table, parameters, a transaction, an error by its number.

    pikepole serve -d ./data            (in another terminal; it prints the password of sa)
    python3 examples/python/orders.py 1433 PASSWORD
"""

import sys

import pymssql


def main(port, password):
    connection = pymssql.connect(server="127.0.0.1", port=port, user="sa", password=password, database="master")
    cursor = connection.cursor(as_dict=True)
    cursor.execute("DROP TABLE IF EXISTS dbo.orders")
    cursor.execute(
        "CREATE TABLE dbo.orders (id int IDENTITY PRIMARY KEY, customer nvarchar(40) NOT NULL,"
        " amount decimal(10, 2) NOT NULL CHECK (amount > 0))"
    )
    connection.commit()

    rows = [("Åse", "19.90"), ("Bo", "5.00"), ("Åse", "100.00")]
    cursor.executemany("INSERT dbo.orders (customer, amount) VALUES (%s, %s)", rows)
    connection.commit()

    try:
        cursor.execute("INSERT dbo.orders (customer, amount) VALUES (%s, %s)", ("Bo", "-1"))
        connection.commit()
    except pymssql.Error as error:
        print("refused with error", error.args[0])
        connection.rollback()

    cursor.execute("SELECT customer, COUNT(*) AS orders, SUM(amount) AS total FROM dbo.orders GROUP BY customer ORDER BY total")
    for row in cursor:
        print(f"{row['customer']}: {row['orders']} orders, {row['total']}")
    connection.close()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
