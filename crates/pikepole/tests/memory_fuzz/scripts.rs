//! Scripts that want much memory.

/// A small generator (xorshift64*, after Vigna) so that a seed can be replayed.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % bound.max(1)
    }

    /// A number of about so many digits at the most, small ones as often as large ones.
    fn size(&mut self, digits: u64) -> u64 {
        let most = 10_u64.pow(1 + self.below(digits) as u32);
        1 + self.below(most)
    }

    fn choose<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len() as u64) as usize]
    }
}

/// A text in a variable `@x`, of up to some hundred megabytes.
fn text(random: &mut Random) -> String {
    let seed = random.choose(&["ab", "x", "<a>1</a>", "{\"a\":1},", "1,", "héß", "select 1;", " ", "''"]);
    let ty = random.choose(&["varchar(max)", "nvarchar(max)"]);
    let count = random.size(8);
    format!("DECLARE @x {ty} = REPLICATE(CAST('{}' AS {ty}), {count});\n", seed.replace('\'', "''"))
}

/// A function of `@x`, perhaps of a function of it.
fn expression(random: &mut Random, depth: u64) -> String {
    let inner = if depth == 0 || random.below(3) == 0 { "@x".to_owned() } else { expression(random, depth - 1) };
    let count = random.size(7);
    match random.below(18) {
        0 => format!("UPPER({inner})"),
        1 => format!("REVERSE({inner})"),
        2 => format!("REPLACE({inner}, 'a', REPLICATE('b', {}))", random.size(4)),
        3 => format!("REPLICATE({inner}, {})", random.size(5)),
        4 => format!("({inner} + {inner})"),
        5 => format!("CONCAT({inner}, '-', {inner}, {inner})"),
        6 => format!("STUFF({inner}, 2, 1, {inner})"),
        7 => format!("TRANSLATE({inner}, 'ab', 'ba')"),
        8 => format!("CONVERT(nvarchar(max), {inner})"),
        9 => format!("CONVERT(varchar(max), CONVERT(varbinary(max), {inner}), {})", random.below(3)),
        10 => format!("SUBSTRING({inner}, {count}, {count})"),
        11 => format!("CONCAT_WS(',', {inner}, {inner})"),
        12 => format!("CAST(DECOMPRESS(COMPRESS({inner})) AS varchar(max))"),
        13 => format!("JSON_MODIFY('{{}}', '$.a', {inner})"),
        14 => format!("CONVERT(varchar(max), HASHBYTES('SHA2_256', {inner}), 1)"),
        15 => format!("(SELECT STRING_AGG({inner}, ';') FROM dbo.numbers WHERE n < {})", random.size(4)),
        16 => format!("(SELECT {inner} AS a FOR XML PATH('r'))"),
        _ => format!("LTRIM(RTRIM(LOWER({inner})))"),
    }
}

/// How many kinds of scripts there are.
const KINDS: u64 = 24;

/// One script, of any kind or of this one.
pub fn script(random: &mut Random, kind: Option<u64>) -> String {
    let start = text(random);
    let (small, many) = (random.size(3), random.size(5));
    match kind.unwrap_or_else(|| random.below(KINDS)) {
        0..=3 => format!("{start}DECLARE @y nvarchar(max) = {}; SELECT DATALENGTH(@y);", expression(random, 4)),
        4 => format!("{start}WHILE DATALENGTH(@x) < 4000000000 SET @x = @x + @x;"),
        5 => (0..4).map(|at| {
            format!("DECLARE @v{at} varchar(max) = REPLICATE(CAST('x' AS varchar(max)), {});\n", random.size(10))
        }).collect::<String>() + "SELECT DATALENGTH(@v0), DATALENGTH(@v3);",
        6 => format!("{start}SELECT COUNT_BIG(*), MAX(LEN(value)) FROM STRING_SPLIT(@x, ',');"),
        7 => format!(
            "{start}DECLARE @t TABLE (v nvarchar(max)); INSERT @t SELECT value FROM STRING_SPLIT(@x, ',');
             SELECT COUNT(*) FROM @t;"
        ),
        8 => format!(
            "DECLARE @j nvarchar(max) = '[' + REPLICATE(CAST('{{\"a\":1}},' AS nvarchar(max)), {}) + '0]';
             SELECT COUNT(*) FROM OPENJSON(@j); SELECT COUNT(*) FROM OPENJSON(@j) WITH (a int);",
            random.size(7)
        ),
        9 => format!(
            "DECLARE @d xml = '<r>' + REPLICATE(CAST('<a b=\"1\">t</a>' AS varchar(max)), {}) + '</r>';
             SELECT @d.value('count(/r/a)', 'int'), (SELECT COUNT(*) FROM @d.nodes('/r/a') AS t(c));
             SELECT DATALENGTH(@d.query('for $x in /r/a, $y in /r/a return <z>{{$x}}{{$y}}</z>'));",
            random.size(6)
        ),
        10 => format!(
            "DECLARE @b varbinary(max) = COMPRESS(REPLICATE(CAST(0x00 AS varchar(max)), {}));
             DECLARE @c varbinary(max) = COMPRESS(@b);
             SELECT DATALENGTH(DECOMPRESS(DECOMPRESS(@c))), (SELECT SUM(CAST(DATALENGTH(DECOMPRESS(@b)) AS bigint)) FROM dbo.numbers WHERE n < 20);",
            random.size(9)
        ),
        11 => format!(
            "WITH r AS (SELECT CAST('x' AS varchar(max)) AS t, 1 AS n
                        UNION ALL SELECT t + t, n + 1 FROM r WHERE n < {})
             SELECT MAX(LEN(t)) FROM r;",
            10 + random.below(30)
        ),
        12 => format!(
            "DECLARE @t TABLE (id int IDENTITY PRIMARY KEY, t varchar(max));
             INSERT @t SELECT REPLICATE(CAST('y' AS varchar(max)), {many}) FROM dbo.numbers WHERE n < {small};
             SELECT COUNT(DISTINCT t + CAST(id AS varchar(9))), MAX(LEN(t)) FROM @t;"
        ),
        13 => format!(
            "DECLARE c CURSOR LOCAL STATIC FOR SELECT REPLICATE(CAST('z' AS varchar(max)), {many}) FROM dbo.numbers WHERE n < {};
             DECLARE @z varchar(max); OPEN c; FETCH c INTO @z; SELECT DATALENGTH(@z); CLOSE c; DEALLOCATE c;",
            small * 10
        ),
        14 => format!(
            "SELECT a.n, REPLICATE('w', {}) AS w INTO #t FROM dbo.numbers AS a;
             SELECT COUNT(*) FROM #t AS a JOIN #t AS b ON a.w = b.w AND a.n % 50 = b.n % 50 WHERE a.n < {};
             SELECT TOP (5) n FROM (SELECT TOP (100) PERCENT n, w FROM #t ORDER BY w, n DESC OFFSET 0 ROWS) AS q; DROP TABLE #t;",
            random.size(4).min(7000), small
        ),
        15 => format!(
            "{start}DECLARE @j nvarchar(max) = (SELECT n, @x AS x FROM dbo.numbers WHERE n < {small} FOR JSON PATH);
             DECLARE @k nvarchar(max) = (SELECT n, @x AS x FROM dbo.numbers WHERE n < {small} FOR XML RAW);
             SELECT DATALENGTH(@j), DATALENGTH(@k);"
        ),
        16 => format!(
            "DECLARE @s nvarchar(max) = REPLICATE(CAST('{}' AS nvarchar(max)), {}); EXEC (@s);",
            random.choose(&["PRINT 1;", "DECLARE @@q int;", "SELECT 1 WHERE 1 IN (1,2,3);", "x "]),
            random.size(6)
        ),
        17 => format!(
            "DECLARE @s nvarchar(max) = 'SELECT COUNT(*) FROM dbo.numbers WHERE n IN (0' + REPLICATE(CAST(',1' AS nvarchar(max)), {}) + ')';
             EXEC sp_executesql @s;",
            random.size(6)
        ),
        18 => format!(
            "CREATE TABLE #b (id int PRIMARY KEY, v varchar(1000)); BEGIN TRAN;
             INSERT #b SELECT n, REPLICATE('v', 500) FROM dbo.numbers WHERE n < {many};
             UPDATE #b SET v = REPLICATE('w', 1000); ROLLBACK; DROP TABLE #b;"
        ),
        19 => format!("{start}SELECT @x, @x, @x FROM dbo.numbers WHERE n < {};", 1 + small / 50),
        20 => format!("{start}SELECT COUNT(*) FROM (SELECT DISTINCT @x + CAST(n AS varchar(9)) AS k FROM dbo.numbers WHERE n < {small}) AS q;"),
        21 => format!("{start}PRINT @x; RAISERROR(@x, 10, 1); SELECT LEN(FORMATMESSAGE(@x, 1)); THROW 50001, @x, 1;"),
        22 => format!(
            "CREATE TABLE #w (v varchar(max)); INSERT #w VALUES (''); {start}
             DECLARE @i int = 0; WHILE @i < {} BEGIN UPDATE #w SET v.WRITE(@x, NULL, NULL); SET @i += 1; END;
             SELECT DATALENGTH(v) FROM #w; DROP TABLE #w;",
            small / 10
        ),
        _ => format!(
            "DECLARE @g varchar(max) = 'LINESTRING(0 0' + (SELECT STRING_AGG(CAST(', ' + CAST(n AS varchar(9)) + ' ' + CAST(n % 7 AS varchar(9)) AS varchar(max)), '') FROM dbo.numbers WHERE n < {}) + ')';
             DECLARE @s geometry = geometry::STGeomFromText(@g, 0); SELECT @s.STBuffer(1).STNumPoints(), @s.STAsText();",
            1 + small * 3
        ),
    }
}
