-- The sample of `pikepole demo`: a small shop. Each value is computed from a row's number, so every run has the same rows.
CREATE DATABASE demo;
GO
USE demo;
GO
CREATE TABLE dbo.customers (
    customer_id int NOT NULL CONSTRAINT pk_customers PRIMARY KEY,
    name nvarchar(60) NOT NULL,
    country char(2) NOT NULL,
    since date NOT NULL
);
CREATE TABLE dbo.products (
    product_id int NOT NULL CONSTRAINT pk_products PRIMARY KEY,
    name nvarchar(60) NOT NULL CONSTRAINT uq_products_name UNIQUE,
    category varchar(20) NOT NULL,
    price decimal(9, 2) NOT NULL CONSTRAINT ck_products_price CHECK (price > 0)
);
CREATE TABLE dbo.orders (
    order_id int IDENTITY NOT NULL CONSTRAINT pk_orders PRIMARY KEY,
    customer_id int NOT NULL CONSTRAINT fk_orders_customer REFERENCES dbo.customers,
    ordered_at datetime2(0) NOT NULL CONSTRAINT df_orders_ordered_at DEFAULT SYSUTCDATETIME(),
    INDEX ix_orders_customer (customer_id, ordered_at)
);
CREATE TABLE dbo.order_lines (
    order_id int NOT NULL CONSTRAINT fk_order_lines_order REFERENCES dbo.orders,
    line_number tinyint NOT NULL,
    product_id int NOT NULL CONSTRAINT fk_order_lines_product REFERENCES dbo.products,
    quantity smallint NOT NULL CONSTRAINT ck_order_lines_quantity CHECK (quantity > 0),
    price decimal(9, 2) NOT NULL,
    CONSTRAINT pk_order_lines PRIMARY KEY (order_id, line_number)
);
GO
INSERT dbo.customers (customer_id, name, country, since)
SELECT n.value,
       CONCAT(CHOOSE(n.value % 7 + 1, N'Ada', N'Björn', N'Chloé', N'Dmitri', N'Emeka', N'Fatima', N'Grace'), N' ',
              CHOOSE(n.value % 9 + 1, N'Almeida', N'Berg', N'Costa', N'Dubois', N'Endo', N'Fischer', N'Garcia', N'Haas', N'Ito')),
       CHOOSE(n.value * 31 % 6 + 1, 'BR', 'DE', 'FR', 'JP', 'SE', 'US'),
       DATEADD(day, n.value * 17 % 2000, '2019-01-01')
FROM GENERATE_SERIES(1, 1000) AS n;

INSERT dbo.products (product_id, name, category, price)
SELECT n.value,
       CONCAT(CHOOSE(n.value % 4 + 1, N'Oak', N'Pine', N'Ash', N'Birch'), N' ',
              CHOOSE(n.value % 5 + 1, N'table', N'chair', N'shelf', N'desk', N'bench'), N' no. ', n.value),
       CHOOSE(n.value % 5 + 1, 'tables', 'seating', 'storage', 'tables', 'seating'),
       19.90 + n.value * 37 % 480
FROM GENERATE_SERIES(1, 200) AS n;

INSERT dbo.orders (customer_id, ordered_at)
SELECT n.value * 7919 % 1000 + 1, DATEADD(minute, n.value * 105, '2025-01-01')
FROM GENERATE_SERIES(1, 5000) AS n;

INSERT dbo.order_lines (order_id, line_number, product_id, quantity, price)
SELECT o.order_id, n.value, p.product_id, (o.order_id + n.value) % 4 + 1, p.price
FROM dbo.orders AS o
JOIN GENERATE_SERIES(1, 4) AS n ON n.value <= o.order_id % 4 + 1
JOIN dbo.products AS p ON p.product_id = (o.order_id * 53 + n.value * 17) % 200 + 1;
GO
CREATE VIEW dbo.order_totals AS
SELECT o.order_id, o.customer_id, o.ordered_at, SUM(l.quantity * l.price) AS total
FROM dbo.orders AS o
JOIN dbo.order_lines AS l ON l.order_id = o.order_id
GROUP BY o.order_id, o.customer_id, o.ordered_at;
GO
CREATE PROCEDURE dbo.place_order @customer_id int, @product_id int, @quantity smallint AS
SET NOCOUNT, XACT_ABORT ON;
DECLARE @order_id int;
BEGIN TRANSACTION;
INSERT dbo.orders (customer_id) VALUES (@customer_id);
SET @order_id = SCOPE_IDENTITY();
INSERT dbo.order_lines (order_id, line_number, product_id, quantity, price)
SELECT @order_id, 1, product_id, @quantity, price FROM dbo.products WHERE product_id = @product_id;
COMMIT;
SELECT order_id, total FROM dbo.order_totals WHERE order_id = @order_id;
GO
-- The mark that the sample is there in full.
EXEC sp_addextendedproperty N'pikepole demo', 1;
