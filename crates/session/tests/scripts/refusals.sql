-- What is refused, and by which error.
-- A column's CHECK sees that column alone.
create table checked (a int check (b > 0), b int);
create table checked (a int constraint positive check (a > 0 and b > 0), b int);
create table checked (a int check (a > 0), b int, check (b > a));
alter table checked add c int check (c > a);
alter table checked add c int check (c > 0);
drop table checked;
go
-- Computed columns have no number, no DEFAULT and, unless they are stored, no rules.
create table computed (a int, c as a + 1 identity(1,1));
create table computed (a int, c as a + 1 default 5);
create table computed (a int, c as a + 1 null);
create table computed (a int, c as a + 1 persisted null);
create table computed (a int, c as a + 1 not null);
create table computed (a int, c as a + 1 check (c > 0));
create table computed (a int not null, c as a + 1, primary key (c));
create table computed (a int, c as a + 1 persisted, primary key (c));
create table computed (a int, c as a + 1 persisted not null check (c > 0) primary key);
alter table computed add d as a + 2 null;
alter table computed add primary key (a);
drop table computed;
go
-- Numbers that texts do not stand for.
select round(5.55, '1');
go
select round(5.55, 1, '1');
go
select convert(varchar(30), cast('2024-03-15' as datetime), '120');
go
select charindex(2, 12345);
go
select charindex('2', 12345);
go
select dateadd(day, '1', 0);
go
select value from generate_series(1.0e0, 5.0e0);
go
select value from generate_series('1', '5');
go
select value from generate_series(1, cast(5 as bigint));
go
select value from generate_series(cast(1.0 as decimal(10,1)), cast(3.00 as decimal(10,2)));
go
-- Orders and groups.
select string_agg(s, ',') within group (order by 1) from (values ('a')) t(s);
go
select max(s) within group (order by s) from (values ('a')) t(s);
go
-- Lengths of types.
select cast('x' as int(4));
go
select convert(int(4), 'x');
go
select
    cast('x' as datetime2(8));
go
create table t (v
    time(9));
go
create table t (d datetime(0));
go
select cast('a' as char(0));
go
select cast(1 as decimal(0));
go
create table t (v nvarchar(4001));
go
create table t (v nchar(4001));
go
create table t (v varchar(8001));
go
create table t (v varbinary(8001));
go
declare @v nvarchar(4001);
go
declare @v varchar(8001);
go
select cast(N'x' as nvarchar(4001));
go
select cast(N'x' as nchar(4001));
go
select cast('x' as varchar(8001));
go
create table t (id int identity(1,0), x int);
go
-- Operators and conversions.
select 0x0F & 0xF0;
go
select 0x05 - 0x02;
go
select 0x05 % 0x02;
go
select 0x05 | 0x02;
go
select 0x05 ^ 0x02;
go
select 0x05 * 0x02;
go
select 'a' - 'b';
go
select cast(cast(1.5e30 as float) as varchar(5));
go
select cast(cast(1.5e30 as float) as nvarchar(5));
go
select cast(newid() as nchar(35));
go
select cast(newid() as char(35));
