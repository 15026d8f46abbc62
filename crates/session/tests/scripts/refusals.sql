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
go
-- Syntax.
select json_object('k': 1, );
go
select json_object('k': 1 null);
go
select json_object('k': null, 'l': 1 null on null), json_array(null null on null);
go
begin end;
go
begin ; end;
go
begin try end try begin catch select 1 end catch;
go
begin try select 1 end try begin catch end catch;
go
declare @v int not null;
go
print 'before'; begin catch select 1 end catch;
go
select 1 where 'A' like 'a' collate Latin1_General_CI_AS collate Latin1_General_CS_AS;
go
select 1 where 'A' = ('a' collate Latin1_General_CS_AS) collate Latin1_General_CI_AS;
go
drop login if exists nobody;
go
select ฿100;
go
if 1 = 0 return 5;
go
create table merged (id int, v int);
create table copied (a int);
go
merge merged as t using (values (1, 10)) as s (id, v) on t.id = s.id when matched then insert (id, v) values (s.id, s.v);
go
merge merged as t using (values (1, 10)) as s (id, v) on t.id = s.id when not matched by source then insert (id, v) values (1, 1);
go
merge merged as t using (values (1, 10)) as s (id, v) on t.id = s.id when not matched then update set v = 0;
go
merge merged as t using (values (1, 10)) as s (id, v) on t.id = s.id when not matched then delete;
go
insert copied output inserted.a exec ('select 42');
go
-- Triggers that forbid a statement are found before it runs.
create trigger watches on merged after insert as print 'watched';
go
select 'not reached';
if 1 = 0 insert dbo.merged output inserted.id values (3, 3);
go
drop trigger watches;
go
create trigger instead on merged instead of insert as print 'instead';
go
select 'not reached';
merge merged as t using (values (1, 10)) as s (id, v) on t.id = s.id
when matched then delete when not matched then insert (id, v) values (s.id, s.v);
go
create view seen as select id, v from merged;
go
create trigger instead_of_update on seen instead of update as print 'instead';
go
update s set v = c.a from seen s join copied c on c.a = s.id;
go
update s set v = 1 from seen s;
select columns_updated() as bits;
go
create table numbered (id int identity, a int);
create table numbered_too (id int identity, a int);
go
set identity_insert numbered on;
set identity_insert numbered_too on;
go
set identity_insert numbered off;
go
-- Windows by name.
create table w (id int, g int, v int);
go
select row_number() over (x) from w window x as (order by id);
go
select sum(v) over (x order by id) from w window x as (order by v);
go
select sum(v) over (x partition by g) from w window x as (partition by v order by id rows unbounded preceding);
go
select sum(v) over x from w window x as (order by id), X as (order by v);
go
select row_number() over x from w window x as (order by id rows unbounded preceding);
go
select lag(v) over x from w window x as (order by id rows unbounded preceding);
go
select row_number() over (x rows unbounded preceding) from w window x as (order by id);
go
select row_number() over x from w window x as (partition by g);
go
select lag(v) over x from w window x as (partition by g);
go
select percentile_disc(0.5) within group (order by v) over x from w window x as (partition by g order by id);
go
select sum(v) over x from w window x as (partition by g rows unbounded preceding);
go
select sum(v) over x from w window x as (y order by id), y as (x partition by g);
go
select sum(v) over x from w window x as (x order by id);
go
select sum(v) over x from w;
go
select sum(v) over y from w window x as (order by id);
go
select sum(v) over x from w window x as (y order by id);
go
select sum(v) over (x order by id) from w window x as (partition by g);
select row_number() over (order by isnull(null, 1)) from w;
go
select row_number() over (partition by g) from w;
go
select row_number() from w;
go
-- Triggers.
alter trigger stray on merged after insert as print 'stray';
go
create procedure stray as select 1;
go
alter trigger stray on merged after insert as print 'stray';
go
create trigger master.dbo.far on merged after insert as print 'far';
go
create table #passing (a int);
go
create trigger brief on #passing after insert as print 'brief';
go
create trigger lost on nowhere after insert as print 'lost';
go
create trigger unheard on merged after foo as print 'unheard';
go
create trigger owned on database with execute as owner for create_table as print 'owned';
go
exec sp_settriggerorder 'instead', 'first', 'INSERT';
go
create trigger heard on copied after insert as print 'heard';
go
exec sp_settriggerorder 'heard', 'first', 'UPDATE';
go
begin transaction with mark;
go
-- What a sql_variant is not.
declare @v sql_variant = 1; select @v + 1;
go
declare @v sql_variant = 1; select 'a' + @v;
go
declare @v sql_variant = 1; select @v + @v;
go
select sql_variant_property(cast('x' as varchar(max)), 'BaseType');
go
select sql_variant_property(cast('<x/>' as xml), 'BaseType');
go
select sql_variant_property(hierarchyid::GetRoot(), 'BaseType');
