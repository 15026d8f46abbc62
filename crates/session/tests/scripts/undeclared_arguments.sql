-- What sp_describe_undeclared_parameters says of arguments of procedures, and by which name a decimal goes.
CREATE TYPE dbo.list AS TABLE (id int);
GO
CREATE TABLE t (d decimal(9, 2), n numeric(9, 2));
GO
CREATE PROCEDURE p @a numeric(5, 1), @b decimal(5, 1), @l dbo.list READONLY, @o int OUTPUT AS SET @o = 1;
GO
CREATE TABLE #told (parameter_ordinal int, name sysname, suggested_system_type_id int, suggested_system_type_name nvarchar(256), suggested_max_length smallint,
    suggested_precision tinyint, suggested_scale tinyint, user_type_id int, db sysname NULL, sch sysname NULL, user_type sysname NULL, a nvarchar(4000), xi int, xd sysname NULL,
    xs sysname NULL, xn sysname NULL, is_xml bit, is_cs bit, is_fixed bit, suggested_is_input bit, suggested_is_output bit, formal_parameter_name sysname NULL, tds_type int, tds_length int);
INSERT #told EXEC sp_describe_undeclared_parameters N'EXEC p @w, @b = @x, @l = @y, @o = @z OUTPUT';
INSERT #told EXEC sp_describe_undeclared_parameters N'SELECT 1 FROM t WHERE d = @d AND @n < n';
INSERT #told EXEC sp_describe_undeclared_parameters N'INSERT t VALUES (@d, @n)';
INSERT #told EXEC sp_describe_undeclared_parameters N'UPDATE t SET n = @n WHERE d > @d';
SELECT parameter_ordinal o, name, suggested_system_type_id id, suggested_system_type_name type, user_type, suggested_is_output output, formal_parameter_name formal, tds_type FROM #told;
GO
-- The columns of a result in whose text variables stand that nothing declares.
create table described (id int identity, a int, b varchar(10) not null)
go
exec sp_describe_first_result_set N'select b, a + @P1 as c from described where a = @P2 order by b offset @P3 rows'
exec sp_describe_first_result_set N'insert into described (a, b) values (@P1, @P2)'
exec sp_describe_first_result_set N'insert into described (a, b) output inserted.id values (@P1, @P2)'
go
exec sp_describe_first_result_set N'print 1; select @P1 as c'
go
exec sp_describe_first_result_set N'select @P1 as c from nowhere'
go
select name, system_type_name, error_number from sys.dm_exec_describe_first_result_set(N'select top (@P1) a from described union select @P2', null, 0)
go
create procedure answers @a int as return @a
go
exec sp_describe_undeclared_parameters N'  EXEC @P1=answers @P2'
go
drop procedure answers
drop table described
go
