-- Indexes that ALTER TABLE adds, and bytes that OPENJSON reads.
CREATE TABLE dbo.part (id int NOT NULL PRIMARY KEY, a int NOT NULL, b varchar(10) NULL);
INSERT dbo.part VALUES (1, 5, 'x'), (2, 5, 'y'), (3, 6, NULL);
ALTER TABLE dbo.part ADD INDEX by_a NONCLUSTERED (a DESC) INCLUDE (b), INDEX by_b UNIQUE (b) WHERE b IS NOT NULL;
ALTER TABLE dbo.part ADD INDEX cs NONCLUSTERED COLUMNSTORE (a, b);
SELECT name, type_desc, is_unique, has_filter, filter_definition FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.part') ORDER BY index_id;
SELECT id FROM dbo.part WHERE a = 5 ORDER BY id;
GO
ALTER TABLE dbo.part ADD INDEX by_a (b);
GO
ALTER TABLE dbo.part ADD INDEX by_nothing (nothing);
GO
ALTER TABLE dbo.part ADD INDEX twice UNIQUE (a);
GO
INSERT dbo.part VALUES (4, 7, 'x');
GO
DROP TABLE dbo.part;
SELECT * FROM OPENJSON('[{"id": 1, "photo": "AQL/"}, {"id": 2, "photo": ""}, {"id": 3}]') WITH (id int, photo varbinary(max), head binary(2) '$.photo');
SELECT photo FROM OPENJSON((SELECT 0x0102FF AS photo FOR JSON PATH)) WITH (photo varbinary(8));
GO
SELECT * FROM OPENJSON('{"photo": "none!"}') WITH (photo varbinary(max));
