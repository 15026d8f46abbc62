-- What Microsoft's deployment tools (DacFx: dacpac and bacpac) ask and set.
SELECT HAS_PERMS_BY_NAME(N'[sys].[sql_expression_dependencies]', N'OBJECT', N'SELECT') AS reads,
    HAS_PERMS_BY_NAME(N'sys.objects', N'OBJECT', N'UPDATE') AS changes, HAS_PERMS_BY_NAME(N'sys.nothing', N'OBJECT', N'SELECT') AS unknown
GO
CREATE DATABASE deployed
GO
ALTER DATABASE deployed SET FILESTREAM(NON_TRANSACTED_ACCESS = OFF), CONTAINMENT = NONE
ALTER DATABASE deployed SET MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT = OFF, DELAYED_DURABILITY = DISABLED
ALTER DATABASE deployed SET SUPPLEMENTAL_LOGGING OFF
GO
ALTER DATABASE deployed SET CONTAINMENT = PARTIAL
GO
ALTER DATABASE deployed SET SUPPLEMENTAL_LOGGING ON
GO
CREATE TABLE watched (a int)
GO
CREATE TRIGGER watches ON watched AFTER INSERT, DELETE AS RETURN
GO
CREATE TRIGGER watches_tables ON DATABASE FOR CREATE_TABLE AS RETURN
GO
SELECT t.name, e.type, e.type_desc, e.is_trigger_event, e.event_group_type FROM sys.events AS e JOIN sys.triggers AS t ON t.object_id = e.object_id ORDER BY t.name, e.type
SELECT COUNT(*) AS rows FROM sys.service_contract_message_usages AS u CROSS JOIN sys.service_contract_usages AS c CROSS JOIN sys.database_credentials AS d
GO
DROP TRIGGER watches_tables ON DATABASE
GO
