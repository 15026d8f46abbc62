SELECT c.country, COUNT(*) AS orders, SUM(t.total) AS revenue,
       CAST(100 * SUM(t.total) / SUM(SUM(t.total)) OVER () AS decimal(5, 1)) AS percentage
FROM dbo.order_totals AS t
JOIN dbo.customers AS c ON c.customer_id = t.customer_id
GROUP BY c.country
ORDER BY revenue DESC;
GO
EXEC dbo.place_order @customer_id = 42, @product_id = 7, @quantity = 3;
