-- What scripts and drivers ask for that other servers' test suites run.
-- ANSI_PADDING is off behind many a generated script, which makes no column then.
set ansi_padding off
select @@options & 16 bits, sessionproperty('ANSI_PADDING') padding
create table unpadded (a int, n nvarchar(5), d date)
go
create table trimmed (v varchar(10))
go
alter table unpadded add b varbinary(3)
go
select cast('a ' as char(5)) c into trimmed
go
set ansi_padding on
go
create table padded (v varchar(10))
insert padded values ('a  ')
select datalength(v) bytes from padded
go
-- ANSI_DEFAULTS sets seven options at once.
set ansi_defaults off
select @@options & (2 + 4 + 8 + 16 + 32 + 256 + 1024) bits
go
set ansi_defaults on
set implicit_transactions off
set cursor_close_on_commit off
select @@options & (2 + 4 + 8 + 16 + 32 + 256 + 1024) bits
go
-- A module finds types of its own schema.
create schema sales
go
create type sales.ids as table (id int)
go
create type sales.code from varchar(7) not null
go
create procedure sales.list (@ids ids readonly, @code code) as
declare @more ids
insert @more select id from @ids union all select len(@code)
select * from @more
go
declare @given sales.ids
insert @given values (1), (2)
exec sales.list @given, 'abc'
go
create function sales.same (@code code) returns code as begin return @code end
go
select sales.same('xyz') c
select name, type_name(user_type_id) type from sys.parameters where object_id in (object_id('sales.list'), object_id('sales.same')) order by object_id, parameter_id
go
create procedure elsewhere (@ids ids readonly) as select * from @ids
go
drop procedure sales.list
drop function sales.same
drop type sales.ids
drop type sales.code
drop schema sales
go
-- The old catalog view tells lengths in characters.
create table widths (a varchar(40), b nvarchar(41), c char(3), d binary(4), e nvarchar(max), f xml, g decimal(9, 2), h int, i date)
select name, prec, scale from syscolumns where id = object_id('widths') order by colid
drop table widths
go
alter user guest with default_schema = dbo
select default_schema_name from sys.database_principals where name = 'guest'
alter user guest with name = other
go
alter user guest with default_schema = guest
exec sp_tables @table_qualifier = 'nowhere'
select databasepropertyex(db_name(), 'SQLSortOrder') sort_order
drop table unpadded
drop table padded
go
-- What was encrypted by a passphrase is decrypted by it, and by its authenticator.
select cast(decryptbypassphrase('key', encryptbypassphrase('key', 'text')) as varchar(10)) v,
    cast(DecryptByPassPhrase(N'key', EncryptByPassPhrase('key', N'täxt')) as nvarchar(10)) n,
    decryptbypassphrase('other', encryptbypassphrase('key', 'text')) other,
    decryptbypassphrase('key', 0x0200000000) cut, encryptbypassphrase('key', null) nothing,
    datalength(encryptbypassphrase('key', 'text')) bytes, datalength(encryptbypassphrase('key', replicate('x', 8))) two_blocks
declare @signed varbinary(8000) = encryptbypassphrase('key', 'salary', 1, 'row 7')
select cast(decryptbypassphrase('key', @signed, 1, 'row 7') as varchar(10)) own, decryptbypassphrase('key', @signed, 1, 'row 8') other,
    decryptbypassphrase('key', @signed) unsigned
go
select encryptbypassphrase(1, 'text')
go
-- A query of a system's view begins a transaction, too, one of nothing does not.
set implicit_transactions on
select 1 one
select @@trancount depth
select count(*) has from sys.schemas where name = 'dbo'
select @@trancount depth
rollback
set implicit_transactions off
go
-- A temporary table has a number by the name that tempdb shows, too.
create table #shown (a int)
select iif(object_id('tempdb..' + quotename(name)) = object_id, 'its own', 'none') number from tempdb.sys.objects where object_id = object_id('tempdb..#shown')
select object_id('tempdb..#shown_') other, object_id('tempdb..#shown____00000000000z') wrong
drop table #shown
-- Long types say their length in the protocol.
create table long_types (a text, b ntext, c image, d varchar(max), e varchar(5))
exec sp_describe_undeclared_parameters N'insert long_types values (@a, @b, @c, @d, @e)'
drop table long_types
go
-- FOR XML AUTO calls elements as FROM names the tables.
create table named (k int)
insert named values (1)
go
select k from dbo.named for xml auto
select k from named for xml auto
select n.k from dbo.named n for xml auto
select dbo.named.k, name from dbo.named join sys.schemas on schemas.schema_id = k for xml auto, elements
drop table named
go
-- What is prepared over a temporary table is described.
create table #prepared (i int, t varchar(3))
go
declare @h int
exec sp_prepare @h output, N'', N'select t, i from #prepared', 1
exec sp_unprepare @h
drop table #prepared
go
